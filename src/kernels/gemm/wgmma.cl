// SPDX-License-Identifier: Apache-2.0
//
// gemm.wgmma_bf16, gemm.wgmma_f16, gemm.wgmma_tf32 and kin: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]) on the
// matrix units of NVIDIA's Hopper GPUs, operands in bfloat16, half or TF32, sums in f32.
//
//                  16 bits                   TF32
//   lhs            R_{TILE_M}_{STEP}_R_8_8_R   R_{TILE_M}_{STEP}_R_8_4_R
//   rhs            C_{STEP}_{TILE_N}_C_8_8_C   C_{STEP}_{TILE_N}_C_4_8_C
//   dst  R, any real type    m*N_pad + n;  of gemm.wgmma_f16_cells and gemm.wgmma_bf16_cells as lhs, for a product behind
//
//                       rhs  n0     n0+TILE_N      A work-group computes a tile of TILE_M x TILE_N, each four
//                         k0 [         ]           warps (128 work-items) 64 rows of it. A step is STEP along k
//                    k0+STEP [         ]           of lhs and of rhs.
//       lhs  k0 k0+STEP
//       m0    [   ]          [ warps 0-3 ]         An instruction multiplies 64 x 16 by 16 x TILE_N (TF32: 64 x 8
//             [---]          [-----------]         by 8 x TILE_N).
//             [   ]          [ warps 4-7 ]
//
// The layouts are those of gemm.mma_bf16 and its kin: cells of 8 x 8 (TF32: 8 x 4), 128 bytes each. wgmma reads both
// operands from local memory itself, in such cells. A descriptor says where the first one lies, how far it is to the
// next one along k, and to the next row or column of cells. So registers hold sums and little else.
//
// In memory a step of a tile is one piece. So one work-item copies it with one instruction, into a ring of STAGES
// steps in local memory. Two barriers belong to each place of the ring. `full` lets those pass who wait for its bytes.
// `empty` lets the copying work-item pass when all warps have multiplied what was there. A warp waits for nothing else.
//
//   step s - 1   multiplied  --> empty --> step s - 1 + STAGES is copied to its place
//   step s       being multiplied, from before step s - 1 is done
//   step s + 1   full or on its way
//
// Sums go through local memory in the end. A warp then takes up whole rows of its tile, four columns by each work-item: what
// the epilogue reads and what is stored lie side by side.
//
// Work-groups go down BAND tiles before they go right by one, as in gemm.mma_bf16.
//
// Tunables: TILE_M (a multiple of 64), TILE_N (128 or 256); STEP; STAGES; BAND.
// Assumes: M_pad, N_pad, K_pad are multiples of the tile and of STEP; both operands are zero where k >= K, and begin at
// multiples of 16 bytes. A driver that takes PTX within OpenCL C, for a GPU of capability 9.0.
// Source: NVIDIA, "Parallel Thread Execution ISA", wgmma.mma_async, cp.async.bulk, mbarrier.
#define PIECE (16 / (int)sizeof(MEMORY_lhs))
#define DEPTH (2 * PIECE)
#define LHS_BYTES (16 * TILE_M * STEP / PIECE)
#define RHS_BYTES (16 * TILE_N * STEP / PIECE)
#define STAGE_BYTES (LHS_BYTES + RHS_BYTES)
// From one row (of lhs) or column (of rhs) of cells to the next, and from cell to cell in it.
#define CELLS_BYTES (STEP / PIECE * CELL_BYTES)
#define CELL_BYTES 128
#define OPERAND MEMORY_lhs
// Of sums in local memory: eight rows by eight columns lie in all banks alike.
#define PITCH (TILE_N + 8)

#define BARRIER_OF(signals, arrivals) \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(signals), "r"(arrivals) : "memory")
#define ARRIVE(signals) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(signals) : "memory")
// Waits until the barrier's phase of that parity is over.
#define AWAIT(signals, parity)                                                                       \
  asm volatile("{.reg .pred over;\nAGAIN:\n"                                                         \
               "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n@!over bra AGAIN;\n}"      \
               ::"r"(signals), "r"(parity) : "memory")
// Bytes on their way to local memory; `signals` is told when they are there, and before how many to await.
#define EXPECT(signals, bytes) \
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(signals), "r"(bytes) : "memory")
#define COPY(to, from, bytes, signals)                                                                  \
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" \
               ::"r"(to), "l"(from), "r"(bytes), "r"(signals) : "memory")
// Starts the copies of the next step, if there is one, into the ring's place s.
#define START_COPIES(s)                                                          \
  {                                                                              \
    if (k_copied < K_pad) {                                                      \
      const uint to = first + (s) * STAGE_BYTES;                                 \
      EXPECT(first_full + 8 * (s), STAGE_BYTES);                                 \
      COPY(to, lhs_next, LHS_BYTES, first_full + 8 * (s));                       \
      COPY(to + LHS_BYTES, rhs_next, RHS_BYTES, first_full + 8 * (s));           \
      lhs_next += TILE_M * STEP;                                                 \
      rhs_next += TILE_N * STEP;                                                 \
      k_copied += STEP;                                                          \
    }                                                                            \
  }

__kernel ATTRIBUTES void wgmma(ARGUMENTS) {
  __local uint4 ring[STAGES * STAGE_BYTES / 16] __attribute__((aligned(128)));
  __local ulong full[STAGES];
  __local ulong empty[STAGES];
  const uint first = (uint)(size_t)&ring[0];
  const uint first_full = (uint)(size_t)&full[0];
  const uint first_empty = (uint)(size_t)&empty[0];
  const int item = get_local_id(0);
  const int lane = item % 32;

  // This work-group's tile.
  const int tiles_n = N_pad / TILE_N;
  const int tiles_m = M_pad / TILE_M;
  const int group = get_group_id(1) * tiles_n + get_group_id(0);
  const int band = group / (BAND * tiles_n);
  const int within = group % (BAND * tiles_n);
  const int height = min(BAND, tiles_m - band * BAND);
  const int m0 = (band * BAND + within % height) * TILE_M;
  const int n0 = within / height * TILE_N;

  if (item == 0) {
    for (int s = 0; s < STAGES; ++s) {
      BARRIER_OF(first_full + 8 * s, 1);
      BARRIER_OF(first_empty + 8 * s, TILE_M / 16);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  __global const MEMORY_lhs* lhs_next = lhs + (size_t)m0 * K_pad;
  __global const MEMORY_rhs* rhs_next = rhs + (size_t)n0 * K_pad;
  int k_copied = 0;
  if (item == 0) {
    for (int s = 0; s < STAGES; ++s) START_COPIES(s);
  }

  float sum[TILE_N / 2];
#pragma unroll
  for (int i = 0; i < TILE_N / 2; ++i) sum[i] = 0.0f;
  const ulong steps = CELLS(CELL_BYTES, CELLS_BYTES);
  int stage = 0;
  uint parity = 0;
  int last_stage = 0;
  uint last_parity = 0;
  for (int k0 = 0; k0 < K_pad; k0 += STEP) {
    const uint place = first + stage * STAGE_BYTES;
    const ulong lhs_cells = steps | (place + item / 128 * (8 * CELLS_BYTES)) / 16;
    const ulong rhs_cells = steps | (place + LHS_BYTES) / 16;
    AWAIT(first_full + 8 * stage, parity);
    WGMMA_FENCE;
#pragma unroll
    for (int k = 0; k < STEP / DEPTH; ++k) {
      MULTIPLY(lhs_cells + k * (2 * CELL_BYTES / 16), rhs_cells + k * (2 * CELL_BYTES / 16));
    }
    WGMMA_COMMIT;
    WGMMA_WAIT("1");
    // All but this step is multiplied.
    if (k0 > 0) {
      if (lane == 0) ARRIVE(first_empty + 8 * last_stage);
      if (item == 0 && k_copied < K_pad) {
        AWAIT(first_empty + 8 * last_stage, last_parity);
        START_COPIES(last_stage);
      }
    }
    last_stage = stage;
    last_parity = parity;
    if (++stage == STAGES) {
      stage = 0;
      parity ^= 1;
    }
  }
  WGMMA_WAIT("0");

  barrier(CLK_LOCAL_MEM_FENCE);

  // In each 16 x 8 a work-item holds rows lane/4 and lane/4 + 8, columns 2*(lane%4) and the next.
  const int row = item / 32 * 16;
  __local float* sums = (__local float*)ring + row * PITCH;
#pragma unroll
  for (int j = 0; j < TILE_N / 8; ++j) {
    __local float* mine = sums + lane / 4 * PITCH + 8 * j + 2 * (lane % 4);
    *(__local float2*)mine = (float2)(sum[4 * j], sum[4 * j + 1]);
    *(__local float2*)(mine + 8 * PITCH) = (float2)(sum[4 * j + 2], sum[4 * j + 3]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);

#ifdef DST_CELLS
  // A warp takes its own 16 rows, eight work-items a cell of them. The epilogue's text, which may be long, stands once for
  // eight columns of each of four cells.
  __global MEMORY_dst* out = dst + (size_t)m0 * N_pad + row * STEP + lane % 8 * 8;
  const bool at_edge = m0 + TILE_M > M || n0 + TILE_N > N;
  for (int c0 = lane / 8 * 8; c0 < TILE_N; c0 += 64) {
    float8 eight[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int r = i % 2 * 8 + lane % 8;
      const int n = n0 + c0 + i / 2 * 32;
      const int m = min(m0 + row + r, M - 1);
      eight[i] = *(__local float8*)(sums + r * PITCH + n - n0);
      for (int t = 0; t < 8; ++t) {
        eight[i].s0 = EPILOGUE(eight[i].s0, m, min(n + t, N - 1));
        eight[i] = eight[i].s12345670;
      }
      if (at_edge) {
        const int8 column = n + (int8)(0, 1, 2, 3, 4, 5, 6, 7);
        eight[i] = select((float8)0.0f, eight[i], column < N && (int8)(m0 + row + r) < M);
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int n = n0 + c0 + i / 2 * 32;
      const size_t place = (size_t)(n / STEP) * (TILE_M * STEP) + n % STEP * 8 + i % 2 * (8 * STEP);
      PUT_EIGHT(MEMORY_dst, out + place, 0, eight[i]);
    }
  }
#else
  // A warp takes its own 16 rows. The epilogue's text, which may be long, stands once for four columns.
  for (int c = 4 * lane; c < TILE_N; c += 128) {
    for (int r = 0; r < 16; r += 4) {
      float4 four[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        four[i] = *(__local float4*)(sums + (r + i) * PITCH + c);
        for (int t = 0; t < 4; ++t) {
          four[i].s0 = EPILOGUE(four[i].s0, m0 + row + r + i, n0 + c + t);
          four[i] = four[i].s1230;
        }
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        PUT_FOUR(MEMORY_dst, dst, ((size_t)(m0 + row + r + i) * N_pad + n0 + c) / 4, four[i]);
      }
    }
  }
#endif
}
#undef PIECE
#undef DEPTH
#undef LHS_BYTES
#undef RHS_BYTES
#undef STAGE_BYTES
#undef CELLS_BYTES
#undef CELL_BYTES
#undef PITCH
#undef OPERAND
#undef BARRIER_OF
#undef ARRIVE
#undef AWAIT
#undef EXPECT
#undef COPY
#undef START_COPIES
