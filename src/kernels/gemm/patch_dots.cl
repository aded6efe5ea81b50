// SPDX-License-Identifier: Apache-2.0
//
// gemm.patch_dots, gemm.patch_dots_f16: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]), for GPUs
// that have a unit for dot() (Midgard): Morton 4-2 with larger patches, any epilogue and dst in any format.
//
//   lhs  R_{PATCH_M}_{CELL_K}_R   cells of PATCH_M rows x CELL_K columns, row by row; at
//        (m/PATCH_M)*(PATCH_M*K_pad) + (k/CELL_K)*(PATCH_M*CELL_K) + (m%PATCH_M)*CELL_K + k%CELL_K
//   rhs  C_{CELL_K}_{PATCH_N}_C   the same with n and PATCH_N
//   dst(m, n)   through accessors, two or four columns at a time
//
//                         rhs   n   n+1            the numbers are offsets within a cell, here of 4 x 2
//                             k  0   4
//                             .  1   5
//                             .  2   6
//        lhs  k . . .        +3  3   7             each step: a cell of lhs and one of rhs, each a run in
//          m  0 1 2 3           [x   x]            memory, and a dot product of vectors of four for each
//        m+1  4 5 6 7           [x   x]            element of the patch and each four of k
//
// A work-group covers LOCAL_M x LOCAL_N patches; work-items beside each other lie below each other in dst
// and read the same cells of rhs.
//
// Registers: PATCH_M vectors for the sums, PATCH_N + 1 for a step. A Midgard core has room for 256
// work-items of at most 4 vectors, 128 of 8, 64 of 16: 2 x 2 fits the second; 4 x 4 the third, with half
// as many loads for each dot product.
//
// Edges: patches beyond dst end at once; rows and columns beyond M and N are computed and not stored.
//
// Tunables: PATCH_M, PATCH_N (2 or 4), CELL_K (4 or 8), LOCAL_M, LOCAL_N.
// Assumes: K_pad is a multiple of CELL_K; lhs is zero where k >= K, rhs finite there; memory covers M
// rounded up to PATCH_M and N to PATCH_N, whatever it holds there; operands take less than 4 GiB each.
// Source: R17, section 8.4: its kernel is PATCH_M = PATCH_N = 2, CELL_K = 4, LOCAL_M = 4, LOCAL_N = 16.
// The registers: J. Gronqvist and A. Lokhmotov, Optimising OpenCL Kernels for the ARM Mali-T600 GPUs.
#if CELL_K % 4 != 0 || (PATCH_N != 2 && PATCH_N != 4)
#error "gemm.patch_dots: CELL_K must be a multiple of 4, PATCH_N 2 or 4"
#endif
#ifdef HALVES
#define FOUR_DOWN FOUR_HALVES
#define FOUR_ACROSS FOUR_HALVES
#else
#define FOUR_DOWN AT4_FROM_lhs
#define FOUR_ACROSS AT4_FROM_rhs
#endif
#define QUADS (CELL_K / 4)

__kernel ATTRIBUTES void patch_dots(ARGUMENTS) {
  const uint m0 = get_global_id(0) * PATCH_M;
  const uint n0 = get_global_id(1) * PATCH_N;
  if (m0 >= (uint)M || n0 >= (uint)N) return;
  __global const MEMORY_lhs* down = BEHIND(lhs, MEMORY_lhs, m0 * (uint)K_pad * sizeof(MEMORY_lhs));
  __global const MEMORY_rhs* across = BEHIND(rhs, MEMORY_rhs, n0 * (uint)K_pad * sizeof(MEMORY_rhs));
  float4 sum[PATCH_M];
#pragma unroll
  for (int i = 0; i < PATCH_M; ++i) sum[i] = (float4)(0.0f);

  for (int k = 0; k < K_pad; k += CELL_K) {
#pragma unroll
    for (int q = 0; q < QUADS; ++q) {
      float4 column[PATCH_N];
#pragma unroll
      for (int j = 0; j < PATCH_N; ++j) column[j] = FOUR_ACROSS(across, j * QUADS + q);
#pragma unroll
      for (int i = 0; i < PATCH_M; ++i) {
        const float4 row = FOUR_DOWN(down, i * QUADS + q);
#if PATCH_N == 4
        sum[i] += (float4)(dot(row, column[0]), dot(row, column[1]),
                           dot(row, column[2]), dot(row, column[3]));
#else
        sum[i].lo += (float2)(dot(row, column[0]), dot(row, column[1]));
#endif
      }
    }
    down += PATCH_M * CELL_K;
    across += PATCH_N * CELL_K;
  }

  // The rows move up instead of being indexed, so that they stay in registers although the epilogue's
  // text, which may be long, stands once. Places without a sign are divided by fewer instructions.
  for (int i = 0; i < PATCH_M; ++i) {
    const uint m = min(m0 + i, (uint)M - 1);
    float4 quad = sum[0];
    for (uint c = 0; c < PATCH_N; ++c) {
      quad.s0 = EPILOGUE(quad.s0, m, min(n0 + c, (uint)N - 1));
      quad = quad.s1230;
    }
#if PATCH_N == 2
    quad = quad.s2301;
#endif
#pragma unroll
    for (int r = 1; r < PATCH_M; ++r) sum[r - 1] = sum[r];
    sum[PATCH_M - 1] = quad;
  }
  // Without a branch between them rows share the divisions that their places in dst take.
  const bool is_whole = m0 + PATCH_M <= (uint)M && n0 + PATCH_N <= (uint)N;
#if defined(TOGETHER4_dst) && PATCH_N == 4
  if (is_whole && TOGETHER4_dst(m0, n0)) {
#else
  if (is_whole) {
#endif
#pragma unroll
    for (int i = 0; i < PATCH_M; ++i) {
#if PATCH_N == 4
      STORE4_dst(m0 + i, n0, sum[i]);
#else
      STORE_dst(m0 + i, n0, sum[i].s0);
      STORE_dst(m0 + i, n0 + 1, sum[i].s1);
#endif
    }
    return;
  }
  for (uint m = m0; m < min(m0 + PATCH_M, (uint)M); ++m) {
    float4 quad = sum[0];
    for (uint n = n0; n < min(n0 + PATCH_N, (uint)N); ++n, quad = quad.s1230) STORE_dst(m, n, quad.s0);
#pragma unroll
    for (int r = 1; r < PATCH_M; ++r) sum[r - 1] = sum[r];
  }
}
#undef FOUR_DOWN
#undef FOUR_ACROSS
#undef QUADS
