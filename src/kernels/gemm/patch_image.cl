// SPDX-License-Identifier: Apache-2.0
//
// gemm.patch_image, gemm.patch_image_f16: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]), rhs in an
// image: on an Adreno the texture processor has a cache of its own, while lhs comes through the other one.
//
//   lhs  R_{PATCH_M}_1_C   (m/PATCH_M)*(PATCH_M*K) + k*PATCH_M + m%PATCH_M
//   rhs  R_1_4_R           texel (n/4, k): columns x and rows y of an image of RGBA floats or halves
//   dst(m, n)              through accessors, four columns at a time
//
//                          rhs    n . . .
//                              k  [r g b a]         each step of k: PATCH_N/4 texels of rhs, PATCH_M/4 vectors
//        lhs   k                  [x x x x]         of lhs, which lie in a row; each element of lhs scales a texel
//          m   0                  [x x x x]
//          :   :                  [x x x x]
//    m+PATCH_M-1                  [x x x x]
//
// A work-group covers LOCAL_N x LOCAL_M patches. Work-items beside each other lie beside each other in dst:
// they read neighbouring texels, and the same elements of lhs.
//
// Registers: PATCH_M * PATCH_N/4 vectors for the sums, PATCH_M/4 + PATCH_N/4 for a step.
//
// Edges: patches beyond dst end at once; rows and columns beyond M and N are computed and not stored (a
// texel beyond the image reads as the last one). K is any.
//
// Tunables: PATCH_M, PATCH_N (4 or 8); UNROLL_K, steps without a branch; LOCAL_M, LOCAL_N.
// Assumes: memory of lhs covers M rounded up to PATCH_M, whatever it holds there.
// Source: A16 (figure 7), where lhs is row-major, the patch 8 x 4 and sizes are multiples of it
// (gemm.a16_image).
#if PATCH_M % 4 != 0 || PATCH_N % 4 != 0
#error "gemm.patch_image: PATCH_M and PATCH_N must be multiples of 4"
#endif
// One step of k: reads texels of row k and the vectors at `down`, and goes on to the next.
#define MULTIPLY(k)                                                                               \
  {                                                                                               \
    float4 column[PATCH_M / 4];                                                                   \
    float4 row[PATCH_N / 4];                                                                      \
    _Pragma("unroll") for (int j = 0; j < PATCH_N / 4; ++j) row[j] = AT4_rhs(n0 / 4 + j, k);      \
    _Pragma("unroll") for (int i = 0; i < PATCH_M / 4; ++i) column[i] = AT4_lhs(down + i);        \
    _Pragma("unroll") for (int i = 0; i < PATCH_M / 4; ++i) {                                     \
      _Pragma("unroll") for (int j = 0; j < PATCH_N / 4; ++j) {                                   \
        sum[4 * i][j] += column[i].s0 * row[j];                                                   \
        sum[4 * i + 1][j] += column[i].s1 * row[j];                                               \
        sum[4 * i + 2][j] += column[i].s2 * row[j];                                               \
        sum[4 * i + 3][j] += column[i].s3 * row[j];                                               \
      }                                                                                           \
    }                                                                                             \
    down += PATCH_M / 4;                                                                          \
  }

__kernel ATTRIBUTES void patch_image(ARGUMENTS) {
  const int n0 = get_global_id(0) * PATCH_N;
  const int m0 = get_global_id(1) * PATCH_M;
  if (n0 >= N || m0 >= M) return;
  int down = m0 / 4 * K;
  float4 sum[PATCH_M][PATCH_N / 4];
#pragma unroll
  for (int i = 0; i < PATCH_M; ++i) {
#pragma unroll
    for (int j = 0; j < PATCH_N / 4; ++j) sum[i][j] = (float4)(0.0f);
  }

  int k = 0;
  for (; k + UNROLL_K <= K; k += UNROLL_K) {
#pragma unroll
    for (int u = 0; u < UNROLL_K; ++u) MULTIPLY(k + u);
  }
  for (; k < K; ++k) MULTIPLY(k);

  // The rows move up instead of being indexed, so that they stay in registers although the epilogue's
  // text, which may be long, stands once for each vector.
  for (int m = m0; m < min(m0 + PATCH_M, M); ++m) {
#pragma unroll
    for (int j = 0; j < PATCH_N / 4; ++j) {
      const int n = n0 + 4 * j;
      float4 quad = sum[0][j];
      for (int c = 0; c < 4; ++c) {
        quad.s0 = EPILOGUE(quad.s0, m, min(n + c, N - 1));
        quad = quad.s1230;
      }
      if (n + 4 <= N) {
        STORE4_dst(m, n, quad);
      } else {
        for (int c = n; c < N; ++c, quad = quad.s1230) STORE_dst(m, c, quad.s0);
      }
#pragma unroll
      for (int i = 1; i < PATCH_M; ++i) sum[i - 1][j] = sum[i][j];
    }
  }
}
#undef MULTIPLY
