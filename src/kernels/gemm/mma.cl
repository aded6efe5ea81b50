// SPDX-License-Identifier: Apache-2.0
//
// gemm.mma_bf16, gemm.mma_f16 and gemm.mma_tf32: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]) on the
// matrix units of NVIDIA GPUs, operands in bfloat16, half or TF32, sums in f32.
//
//                  16 bits                   TF32
//   lhs            R_{TILE_M}_{STEP}_R_8_8_R   R_{TILE_M}_{STEP}_R_8_4_R
//   rhs            C_{STEP}_{TILE_N}_C_8_8_C   C_{STEP}_{TILE_N}_C_4_8_C
//   dst  R  f32    m*N_pad + n
//
//                       rhs  n0     n0+TILE_N      A work-group computes a tile of TILE_M x TILE_N, each
//                         k0 [    |    ]           warp (32 work-items in lockstep) a patch of it. A step
//                    k0+STEP [    |    ]           is STEP along k of lhs and of rhs.
//       lhs  k0 k0+STEP
//       m0    [   ]          [wxyz| 2  ]           A patch is PATCH_M/16 x PATCH_N/8 products of
//             [---]          [----+----]           16 x 16 x 8 (TF32: 16 x 8 x 8), one instruction each.
//             [   ]          [ 3  | 4  ]
//
// The layouts do three things at once. What a work-group needs of an operand in a step is one contiguous
// piece of memory, so copying it is copying bytes in their order: cp.async carries them into local memory,
// a ring of STAGES steps, without a register between. In it lie cells of 8 x 8 (TF32: 8 x 4), 128 bytes
// each:
//
//   lhs, STEP = 32:    cell 0 cell 1 cell 2 cell 3    rows 0 to 7       cell: row 0, k 0 to 7   16 bytes
//                      cell 4 cell 5 cell 6 cell 7    rows 8 to 15            row 1, k 0 to 7   16 bytes
//                      ...                                                    ...
//
// ldmatrix hands out four cells at a time to a warp, each in the places where mma.sync wants its values. And a
// cell is 128 bytes wide, all 32 banks once, so no two of its rows wait for each other. (With rows of
// lhs one below the other, the eight rows of a cell would fall into a few banks.) The ring lies at a multiple
// of 128 bytes: the driver keeps 16 bytes at the start of local memory to itself, and cells that straddle
// two rows of banks cost two fifths of the speed.
//
// The values of the next instructions are read from local memory while those of the last are multiplied, across the
// border of two steps too.
//
// Work-groups go down BAND tiles before they go right by one: those at work at the same time then share
// rows of lhs and columns of rhs, which stay in the second-level cache.
//
// Tunables: TILE_M, TILE_N of a work-group; PATCH_M, PATCH_N of a warp (multiples of 16);
// STEP; STAGES; BAND.
// Assumes: M_pad, N_pad, K_pad are multiples of the tile and of STEP; both operands are zero where k >= K. A
// driver that takes PTX within OpenCL C, for sm_80 or later.
// Source: NVIDIA, "Parallel Thread Execution ISA", mma.m16n8k16, mma.m16n8k8 with .tf32, ldmatrix, cp.async.
#define WARPS_M (TILE_M / PATCH_M)
#define WARPS_N (TILE_N / PATCH_N)
#define ITEMS (32 * WARPS_M * WARPS_N)
// What depends on the numbers: how many are in a piece of 16 bytes, and the instruction.
#define PIECE_ushort 8
#define PIECE_half 8
#define PIECE_float 4
#define INSTRUCTION_ushort "m16n8k16.row.col.f32.bf16.bf16.f32"
#define INSTRUCTION_half "m16n8k16.row.col.f32.f16.f16.f32"
#define INSTRUCTION_float "m16n8k8.row.col.f32.tf32.tf32.f32"
#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)
#define PIECE JOINED(PIECE_, MEMORY_lhs)
#define INSTRUCTION JOINED(INSTRUCTION_, MEMORY_lhs)
// Pieces in a step, and k in an instruction.
#define LHS_PIECES (TILE_M * STEP / PIECE)
#define RHS_PIECES (TILE_N * STEP / PIECE)
#define DEPTH (2 * PIECE)
#define STAGE_PIECES (LHS_PIECES + RHS_PIECES)
// Bytes from one row (of lhs) or column (of rhs) of cells to the next, and from cell to cell in it.
#define CELLS_BYTES (STEP / PIECE * CELL_BYTES)
#define CELL_BYTES 128
#if LHS_PIECES % ITEMS != 0 || RHS_PIECES % ITEMS != 0 || STEP % (2 * DEPTH) != 0
#error "gemm.mma: each work-item must copy as many pieces as every other; STEP is an even number of depths"
#endif
#if PATCH_M % 16 != 0 || PATCH_N % 16 != 0
#error "gemm.mma: patches must be multiples of 16"
#endif

// 16 bytes from global to local memory; the copy is under way when this ends.
#define COPY(to, from)                                                                              \
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory")

// Starts the copies of the next step, if there is one, into the ring's place at address `place`.
#define START_COPIES(place)                                                                   \
  {                                                                                           \
    if (k_copied < K_pad) {                                                                   \
      _Pragma("unroll") for (int i = 0; i < LHS_PIECES / ITEMS; ++i) {                        \
        COPY((place) + 16 * (item + i * ITEMS), lhs_next + i * ITEMS);                        \
      }                                                                                       \
      _Pragma("unroll") for (int i = 0; i < RHS_PIECES / ITEMS; ++i) {                        \
        COPY((place) + 16 * (LHS_PIECES + item + i * ITEMS), rhs_next + i * ITEMS);           \
      }                                                                                       \
      lhs_next += LHS_PIECES;                                                                 \
      rhs_next += RHS_PIECES;                                                                 \
      k_copied += STEP;                                                                       \
    }                                                                                         \
    asm volatile("cp.async.commit_group;" ::: "memory");                                      \
  }

// Four matrices of 8 x 8 from local memory, each row at the address that one work-item gives.
#define READ_MATRICES(r0, r1, r2, r3, address)                                       \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"    \
               : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)                              \
               : "r"(address)                                                        \
               : "memory")

// Waits until all but the last STAGES - 2 steps that were started have arrived, for all work-items.
#define AWAIT_COPIES()                                                    \
  {                                                                       \
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory"); \
    barrier(CLK_LOCAL_MEM_FENCE);                                         \
  }

// What the k-th instructions of the step at `place` need.
#define READ(into, place, k)                                                                     \
  {                                                                                              \
    _Pragma("unroll") for (int i = 0; i < PATCH_M / 16; ++i) {                                   \
      READ_MATRICES(a[into][i][0], a[into][i][1], a[into][i][2], a[into][i][3],                  \
                    (place) + lhs_from + 2 * i * CELLS_BYTES + 2 * (k) * CELL_BYTES);            \
    }                                                                                            \
    _Pragma("unroll") for (int j = 0; j < PATCH_N / 16; ++j) {                                   \
      READ_MATRICES(b[into][j][0], b[into][j][1], b[into][j][2], b[into][j][3],                  \
                    (place) + rhs_from + 2 * j * CELLS_BYTES + 2 * (k) * CELL_BYTES);            \
    }                                                                                            \
  }

#define MULTIPLY(c, a, b0, b1)                                                           \
  asm("mma.sync.aligned." INSTRUCTION " "                 \
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                  \
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                   \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))

__kernel ATTRIBUTES void mma(ARGUMENTS) {
  __local uint4 ring[STAGES * STAGE_PIECES] __attribute__((aligned(128)));
  const int item = get_local_id(0);
  const int lane = item % 32;
  const int warp = item / 32;

  // This work-group's tile.
  const int tiles_n = N_pad / TILE_N;
  const int tiles_m = M_pad / TILE_M;
  const int group = get_group_id(1) * tiles_n + get_group_id(0);
  const int band = group / (BAND * tiles_n);
  const int within = group % (BAND * tiles_n);
  const int height = min(BAND, tiles_m - band * BAND);
  const int m0 = (band * BAND + within % height) * TILE_M;
  const int n0 = within / height * TILE_N;

  // What this work-item copies next. A piece is a uint4.
  __global const uint4* lhs_next = (__global const uint4*)lhs + (size_t)m0 * K_pad / PIECE + item;
  __global const uint4* rhs_next = (__global const uint4*)rhs + (size_t)n0 * K_pad / PIECE + item;

  // What this work-item addresses for ldmatrix, one row of a cell; bytes. Of lhs the four cells are rows 0-7
  // and 8-15 with the first half of the k, then with the second; of rhs columns 0-7 with either half, then columns
  // 8-15.
  const uint first = (uint)(size_t)&ring[0];
  const uint lhs_from = (warp / WARPS_N * (PATCH_M / 8) + lane / 8 % 2) * CELLS_BYTES +
                        lane / 16 * CELL_BYTES + lane % 8 * 16;
  const uint rhs_from = 16 * LHS_PIECES +
                        (warp % WARPS_N * (PATCH_N / 8) + lane / 16) * CELLS_BYTES +
                        lane / 8 % 2 * CELL_BYTES + lane % 8 * 16;

  float sum[PATCH_M / 16][PATCH_N / 8][4];
#pragma unroll
  for (int i = 0; i < PATCH_M / 16; ++i) {
#pragma unroll
    for (int j = 0; j < PATCH_N / 8; ++j) {
#pragma unroll
      for (int c = 0; c < 4; ++c) sum[i][j][c] = 0.0f;
    }
  }

  uint a[2][PATCH_M / 16][4];
  uint b[2][PATCH_N / 16][4];
  int k_copied = 0;
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) START_COPIES(first + 16 * s * STAGE_PIECES);
  AWAIT_COPIES();
  READ(0, first, 0);
  int stage = 0;
  int free_stage = STAGES - 1;
  uint place = first;
  for (int k0 = 0; k0 < K_pad; k0 += STEP) {
    START_COPIES(first + 16 * free_stage * STAGE_PIECES);
#pragma unroll
    for (int k = 0; k < STEP / DEPTH; ++k) {
      if (k < STEP / DEPTH - 1) {
        READ((k + 1) % 2, place, k + 1);
      } else {
        free_stage = stage;
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        place = first + 16 * stage * STAGE_PIECES;
        AWAIT_COPIES();
        READ((k + 1) % 2, place, 0);
      }
#pragma unroll
      for (int i = 0; i < PATCH_M / 16; ++i) {
#pragma unroll
        for (int j = 0; j < PATCH_N / 16; ++j) {
          MULTIPLY(sum[i][2 * j], a[k % 2][i], b[k % 2][j][0], b[k % 2][j][1]);
          MULTIPLY(sum[i][2 * j + 1], a[k % 2][i], b[k % 2][j][2], b[k % 2][j][3]);
        }
      }
    }
  }

  // In a product of 16 x 8, a work-item holds rows lane/4 and lane/4 + 8, columns 2*(lane%4) and the next.
  const int m_first = m0 + warp / WARPS_N * PATCH_M + lane / 4;
  const int n_first = n0 + warp % WARPS_N * PATCH_N + 2 * (lane % 4);
#pragma unroll
  for (int i = 0; i < PATCH_M / 16; ++i) {
#pragma unroll
    for (int j = 0; j < PATCH_N / 8; ++j) {
      __global float* out = dst + (size_t)(m_first + 16 * i) * N_pad + n_first + 8 * j;
      *(__global float2*)out = (float2)(sum[i][j][0], sum[i][j][1]);
      *(__global float2*)(out + 8 * N_pad) = (float2)(sum[i][j][2], sum[i][j][3]);
    }
  }
  // A work-item takes up its own elements again: the epilogue's text, which may be long, stands once.
  // Where there is none, compilers see that nothing changes.
  for (int i = 0; i < PATCH_M / 8; ++i) {
    const int m = m_first + 8 * i;
    for (int j = 0; j < PATCH_N / 4; ++j) {
      const int n = n_first + j / 2 * 8 + j % 2;
      dst[m * N_pad + n] = EPILOGUE(dst[m * N_pad + n], m, n);
    }
  }
}
#undef WARPS_M
#undef WARPS_N
#undef ITEMS
#undef LHS_PIECES
#undef RHS_PIECES
#undef CELLS_BYTES
#undef CELL_BYTES
#undef STAGE_PIECES
#undef PIECE_ushort
#undef PIECE_half
#undef PIECE_float
#undef INSTRUCTION_ushort
#undef INSTRUCTION_half
#undef INSTRUCTION_float
#undef JOINED_
#undef JOINED
#undef PIECE
#undef INSTRUCTION
#undef DEPTH
#undef COPY
#undef START_COPIES
#undef READ_MATRICES
#undef AWAIT_COPIES
#undef READ
#undef MULTIPLY
