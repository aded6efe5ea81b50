// SPDX-License-Identifier: Apache-2.0
//
// gemm.async_tile, gemm.async_tile_large, gemm.async_tile_low: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n])
// on NVIDIA GPUs, whose copies from global to local memory run by themselves.
//
//   lhs  C   k*M_pad + m
//   rhs  R   k*N_pad + n
//   dst  R   m*N_pad + n
//
// The tile of gemm.local_tile with three changes, each of which takes work away from the work-items:
//
//   - cp.async carries 16 bytes from global to local memory without a register between, STAGES - 1 steps
//     ahead of the one that is multiplied. Both operands lie with k outermost, so nothing is transposed
//     on the way: lhs is demanded column by column.
//   - The values of k + 1 are read from local memory while those of k are multiplied, across the border
//     of two steps too.
//   - The 32 work-items that run in lockstep (a warp) form a rectangle of LANES_X columns, whose reads
//     from local memory are few and wide.
//
//   local memory, a ring of STAGES steps:   | step s | s + 1 | s + 2 | ... |
//                                             multiplied  ^ on their way
//     lhs_tile[TILE_K][TILE_M/4]
//     rhs_tile[TILE_K][TILE_N/4]
//
// The ring lies at a multiple of 128 bytes, the width of local memory. The driver keeps 16 bytes at its start
// to itself, and without the attribute each row of the ring would straddle two.
//
// A work-item's patch is in pieces of 4 x 4: piece (i, j) of lane (x, y) of a warp begins at row
// 4*(i*LANES_Y + y), column 4*(j*LANES_X + x) of the warp's rectangle.
//
// The three differ in their values: gemm.async_tile_large has tiles of 256 x 128 and patches of 16 x 8, which is
// best where there are enough work-groups for all compute units, gemm.async_tile smaller ones, and
// gemm.async_tile_low tiles of 32 x 64, for products of few rows and where larger tiles are too few.
//
// Work-groups go down BAND tiles before they go right by one: those at work at the same time then share
// rows of lhs and columns of rhs, which stay in the second-level cache. With BAND = 1 they go along the rows.
//
// Tunables: TILE_M, TILE_N, TILE_K; PATCH_M, PATCH_N (multiples of 4); LANES_X of a warp; STAGES; BAND.
// Assumes: M_pad, N_pad, K_pad are multiples of the tile; lhs is zero where k >= K, rhs finite there. A
// driver that takes PTX within OpenCL C, for sm_80 or later.
// Source: NVIDIA, "Parallel Thread Execution ISA", cp.async.
#define LANES 32
#define LANES_Y (LANES / LANES_X)
#define ITEMS (TILE_M / PATCH_M * (TILE_N / PATCH_N))
#define WARPS_X (TILE_N / (LANES_X * PATCH_N))
#define LHS_VECTORS (TILE_K * TILE_M / 4)
#define RHS_VECTORS (TILE_K * TILE_N / 4)
#define STAGE_VECTORS (LHS_VECTORS + RHS_VECTORS)
#if LHS_VECTORS % ITEMS != 0 || RHS_VECTORS % ITEMS != 0
#error "gemm.async_tile: each work-item must copy as many vectors as every other"
#endif

// 16 bytes from global to local memory; the copy is under way when this ends.
#define COPY(to, from)                                                                       \
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint)(size_t)(to)), "l"(from) \
               : "memory")

// Starts the copies of the next step, if there is one, into the ring's place `stage`.
#define START_COPIES(stage)                                                            \
  {                                                                                    \
    if (k_copied < K_pad) {                                                            \
      _Pragma("unroll") for (int i = 0; i < LHS_VECTORS / ITEMS; ++i) {                \
        const int v = item + i * ITEMS;                                                \
        COPY(&ring[stage][v], lhs_vectors + (v / (TILE_M / 4)) * (M_pad / 4) + v % (TILE_M / 4)); \
      }                                                                                \
      _Pragma("unroll") for (int i = 0; i < RHS_VECTORS / ITEMS; ++i) {                \
        const int v = item + i * ITEMS;                                                \
        COPY(&ring[stage][LHS_VECTORS + v],                                            \
             rhs_vectors + (v / (TILE_N / 4)) * (N_pad / 4) + v % (TILE_N / 4));       \
      }                                                                                \
      lhs_vectors += TILE_K * (M_pad / 4);                                             \
      rhs_vectors += TILE_K * (N_pad / 4);                                             \
      k_copied += TILE_K;                                                              \
    }                                                                                  \
    asm volatile("cp.async.commit_group;" ::: "memory");                               \
  }

// Waits until all but the last STAGES - 2 steps that were started have arrived, for all work-items.
#define AWAIT_COPIES()                                                             \
  {                                                                                \
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");          \
    barrier(CLK_LOCAL_MEM_FENCE);                                                  \
  }

// The values of the row that `lhs_row` and `rhs_row` point at, k rows on.
#define READ(into, k)                                                                            \
  {                                                                                              \
    _Pragma("unroll") for (int i = 0; i < PATCH_M / 4; ++i) down[into][i] =                      \
        lhs_row[(k) * (TILE_M / 4) + i * LANES_Y];                                               \
    _Pragma("unroll") for (int j = 0; j < PATCH_N / 4; ++j) across[into][j] =                    \
        rhs_row[(k) * (TILE_N / 4) + j * LANES_X];                                               \
  }

__kernel ATTRIBUTES void async_tile(ARGUMENTS) {
  __local float4 ring[STAGES][STAGE_VECTORS] __attribute__((aligned(128)));
  const int item = get_local_id(0);
  const int warp = item / LANES;
  const int lane = item % LANES;
  // In vectors of four, within the tile.
  const int column = warp % WARPS_X * (LANES_X * PATCH_N / 4) + lane % LANES_X;
  const int row = warp / WARPS_X * (LANES_Y * PATCH_M / 4) + lane / LANES_X;
  // This work-group's tile: down a band of BAND rows of tiles before one to the right.
  const int first_row = get_group_id(1) / BAND * BAND;
  const int band_rows = min(BAND, (int)get_num_groups(1) - first_row);
  const int tiles_n = get_num_groups(0);
  const int within = ((int)get_group_id(1) - first_row) * tiles_n + (int)get_group_id(0);
  const int n0 = within / band_rows * TILE_N;
  const int m0 = (first_row + within % band_rows) * TILE_M;
  __global const float4* lhs_vectors = (__global const float4*)lhs + m0 / 4;
  __global const float4* rhs_vectors = (__global const float4*)rhs + n0 / 4;
  float4 down[2][PATCH_M / 4];
  float4 across[2][PATCH_N / 4];
  float4 sum[PATCH_M][PATCH_N / 4];
#pragma unroll
  for (int i = 0; i < PATCH_M; ++i) {
#pragma unroll
    for (int j = 0; j < PATCH_N / 4; ++j) sum[i][j] = (float4)(0.0f);
  }

  int k_copied = 0;
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) START_COPIES(s);
  AWAIT_COPIES();
  __local const float4* lhs_row = ring[0] + row;
  __local const float4* rhs_row = ring[0] + LHS_VECTORS + column;
  READ(0, 0);
  int stage = 0;
  int free_stage = STAGES - 1;
  for (int k0 = 0; k0 < K_pad; k0 += TILE_K) {
    START_COPIES(free_stage);
#pragma unroll
    for (int k = 0; k < TILE_K; ++k) {
      if (k < TILE_K - 1) {
        READ((k + 1) % 2, k + 1);
      } else {
        free_stage = stage;
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        lhs_row = ring[stage] + row;
        rhs_row = ring[stage] + LHS_VECTORS + column;
        AWAIT_COPIES();
        READ((k + 1) % 2, 0);
      }
#pragma unroll
      for (int i = 0; i < PATCH_M / 4; ++i) {
#pragma unroll
        for (int j = 0; j < PATCH_N / 4; ++j) {
          sum[4 * i][j] += down[k % 2][i].s0 * across[k % 2][j];
          sum[4 * i + 1][j] += down[k % 2][i].s1 * across[k % 2][j];
          sum[4 * i + 2][j] += down[k % 2][i].s2 * across[k % 2][j];
          sum[4 * i + 3][j] += down[k % 2][i].s3 * across[k % 2][j];
        }
      }
    }
  }

  // The epilogue is applied in registers: read back from memory, the elements of products of few k took longer than the
  // products. Its text, which may be long, stands once for four neighbours.
  __global float* out = dst + (m0 + 4 * row) * N_pad + n0 + 4 * column;
#pragma unroll
  for (int i = 0; i < PATCH_M; ++i) {
    const int m = m0 + 4 * (row + i / 4 * LANES_Y) + i % 4;
#pragma unroll
    for (int j = 0; j < PATCH_N / 4; ++j) {
      const int n = n0 + 4 * (column + j * LANES_X);
      float4 four = sum[i][j];
      for (int t = 0; t < 4; ++t) {
        four.s0 = EPILOGUE(four.s0, m, n + t);
        four = four.s1230;
      }
      ((__global float4*)(out + (i / 4 * 4 * LANES_Y + i % 4) * N_pad))[j * LANES_X] = four;
    }
  }
}
#undef LANES
#undef LANES_Y
#undef ITEMS
#undef WARPS_X
#undef LHS_VECTORS
#undef RHS_VECTORS
#undef STAGE_VECTORS
#undef COPY
#undef START_COPIES
#undef AWAIT_COPIES
#undef READ
