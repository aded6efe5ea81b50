// SPDX-License-Identifier: Apache-2.0
//
// gemm.patch_panels, gemm.patch_panels_f16, gemm.patch_panels_f16_sums: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]), for
// GPUs whose local memory is ordinary memory: what is used again lies in registers, what is read in a row.
// gemm.patch_image, gemm.patch_image_f16: the same with rhs in an image. On an Adreno the texture processor has a
// cache of its own, while lhs comes through the other one.
//
//   lhs  R_{PATCH_M*BAND}_1_C   panels of PATCH_M rows, k by k; BAND of them side by side for each k
//   rhs  C_1_{PATCH_N}_R        (n/PATCH_N)*(K*PATCH_N) + k*PATCH_N + n%PATCH_N
//        or R_1_4_R             texel (n/4, k): columns x and rows y of an image of RGBA floats or halves
//   dst(m, n)                   through accessors, four columns at a time
//
//                          rhs    n . . .
//                              k  [0 1 2 3]         each step of k: PATCH_M/4 vectors of lhs and PATCH_N/4 of
//        lhs   k  k+1         +1  [4 5 6 7]         rhs, and PATCH_M * PATCH_N/4 multiply-adds of vectors: an
//          m   0   4            [ x x x x ]         element of lhs times a vector of rhs
//          .   1   5            [ x x x x ]
//          .   2   6            [ x x x x ]         (the numbers are offsets within a panel)
//        m+3   3   7            [ x x x x ]
//
// A work-group covers LOCAL_M x LOCAL_N patches. Work-items beside each other lie below each other in dst:
// they read the same panel of rhs at the same time. With an image they lie beside each other in dst too, and read
// neighbouring texels and the same elements of lhs. With BAND > 1 what they read of lhs lies side by side
// too, which counts on GPUs that run several work-items in step (Bifrost, Valhall, Adreno).
//
// Registers: PATCH_M * PATCH_N/4 vectors for the sums, PATCH_M/4 + PATCH_N/4 for a step. A Midgard core
// has room for 256 work-items of at most 4 vectors, 128 of 8, 64 of 16: 4 x 4 fits the second, 8 x 4 the
// third; 8 x 8 fits none and spills, but suits GPUs with more registers.
//
// A Mali of the Bifrost or Valhall kind holds twice the work-items of a kernel that takes 32 registers. 4 x 4 does:
// the patch's row and column share one register until the sums are done.
//
// gemm.patch_panels_f16_sums adds up UNROLL_K products in halves before it adds their sum to one in f32 (SUMS_F16). A Mali
// does two such multiply-adds in the time of one of floats.
//
// Edges: patches beyond dst end at once; rows and columns beyond M and N are computed and not stored.
// A texel beyond the image reads as the last one. K is any.
//
// Tunables: PATCH_M, PATCH_N (4 or 8); BAND; UNROLL_K, steps without a branch (and terms of a sum of halves); LOCAL_M, LOCAL_N; IMAGE in
// gemm.patch_image and gemm.patch_image_f16 only.
// Assumes: memory of lhs covers M rounded up to PATCH_M*BAND, of rhs N rounded up to PATCH_N, whatever it
// holds there; operands take less than 4 GiB each.
// Source of the image: A16 (figure 7), where lhs is row-major, the patch 8 x 4 and sizes are multiples of it
// (gemm.a16_image).
// Source of the registers: J. Gronqvist and A. Lokhmotov, Optimising OpenCL Kernels for the ARM Mali-T600
// GPUs. `a * b + c` is left to the compiler to contract: fma() is a function where there is no such
// instruction, and mad() two on PoCL.
#if PATCH_M % 4 != 0 || (PATCH_N != 4 && PATCH_N != 8)
#error "gemm.patch_panels: PATCH_M must be a multiple of 4, PATCH_N 4 or 8"
#endif
#ifdef SUMS_F16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define FOUR half4
#define SUM part
#define FOUR_DOWN(p, i) (((__global const half4*)(p))[i])
#define FOUR_ACROSS FOUR_DOWN
#define EACH_SUM(does)                                                             \
  _Pragma("unroll") for (int i = 0; i < PATCH_M; ++i) {                            \
    _Pragma("unroll") for (int j = 0; j < RHS_STEP; ++j) does;                     \
  }
#define BEGIN_PART         \
  half4 part[PATCH_M][RHS_STEP]; \
  EACH_SUM(part[i][j] = (half4)((half)0))
#define END_PART EACH_SUM(sum[i][j] += convert_float4(part[i][j]))
#else
#define FOUR float4
#define SUM sum
#define BEGIN_PART
#define END_PART
#ifdef HALVES
#define FOUR_DOWN FOUR_HALVES
#define FOUR_ACROSS FOUR_HALVES
#else
#define FOUR_DOWN AT4_FROM_lhs
#define FOUR_ACROSS AT4_FROM_rhs
#endif
#endif
#define LHS_STEP (PATCH_M * BAND / 4)
#define RHS_STEP (PATCH_N / 4)
#ifdef IMAGE
#define AT4_ACROSS(j, u) AT4_rhs(across + (j), k + (u))
#define RHS_NEXT(steps) k += (steps)
#define PATCH_ROW get_global_id(1)
#define PATCH_COLUMN get_global_id(0)
#else
#define AT4_ACROSS(j, u) FOUR_ACROSS(across, (u)*RHS_STEP + (j))
#define RHS_NEXT(steps) across += 4 * RHS_STEP * (steps)
#define PATCH_ROW get_global_id(0)
#define PATCH_COLUMN get_global_id(1)
#endif
// Step u from here on. `down` and `across` point at the first: what the loop adds to them is constant, and so is what
// a step adds to that, which GPUs' loads take for nothing. An index would be made an address for each load.
#define MULTIPLY(u)                                                                              \
  {                                                                                              \
    FOUR column[PATCH_M / 4];                                                                  \
    FOUR row[RHS_STEP];                                                                        \
    _Pragma("unroll") for (int i = 0; i < PATCH_M / 4; ++i) {                                    \
      column[i] = FOUR_DOWN(down, (u)*LHS_STEP + i);                                          \
    }                                                                                            \
    _Pragma("unroll") for (int j = 0; j < RHS_STEP; ++j) row[j] = AT4_ACROSS(j, u);              \
    _Pragma("unroll") for (int i = 0; i < PATCH_M / 4; ++i) {                                    \
      _Pragma("unroll") for (int j = 0; j < RHS_STEP; ++j) {                                     \
        SUM[4 * i][j] += column[i].s0 * row[j];                                                  \
        SUM[4 * i + 1][j] += column[i].s1 * row[j];                                              \
        SUM[4 * i + 2][j] += column[i].s2 * row[j];                                              \
        SUM[4 * i + 3][j] += column[i].s3 * row[j];                                              \
      }                                                                                          \
    }                                                                                            \
  }
// The epilogue of vector j of the first row, which moves to the end. A loop over j would make an array in memory of the
// sums: Mesa's compilers unroll no loop that holds another.
#define FINISH(j)                                                                      \
  {                                                                                    \
    float4 quad = sum[0][j];                                                           \
    for (uint c = 0; c < 4; ++c) {                                                     \
      quad.s0 = EPILOGUE(quad.s0, m, min(n0 + 4 * (j) + c, (uint)N - 1));              \
      quad = quad.s1230;                                                               \
    }                                                                                  \
    _Pragma("unroll") for (int i = 1; i < PATCH_M; ++i) sum[i - 1][j] = sum[i][j];     \
    sum[PATCH_M - 1][j] = quad;                                                        \
  }
// Stores what lies in dst of vector j of the first row, which gives way to the next.
#define STORE_EDGE(j)                                                                  \
  {                                                                                    \
    float4 quad = sum[0][j];                                                           \
    for (uint n = n0 + 4 * (j); n < min(n0 + 4 * (j) + 4, (uint)N); ++n) {             \
      STORE_dst(m, n, quad.s0);                                                        \
      quad = quad.s1230;                                                               \
    }                                                                                  \
    _Pragma("unroll") for (int i = 1; i < PATCH_M; ++i) sum[i - 1][j] = sum[i][j];     \
  }

__kernel ATTRIBUTES void patch_panels(ARGUMENTS) {
  const uint row = PATCH_ROW;
  const uint column = PATCH_COLUMN;
  if (row * PATCH_M >= (uint)M || column * PATCH_N >= (uint)N) return;
  const uint place = row << 16 | column;
  __global const MEMORY_lhs* down = BEHIND(
      lhs, MEMORY_lhs, (row / BAND * (uint)(BAND * K) + row % BAND) * (PATCH_M * sizeof(MEMORY_lhs)));
#ifdef IMAGE
  const int across = column * RHS_STEP;
  int k = 0;
#else
  __global const MEMORY_rhs* across = BEHIND(rhs, MEMORY_rhs, column * (uint)K * (PATCH_N * sizeof(MEMORY_rhs)));
#endif
  float4 sum[PATCH_M][PATCH_N / 4];
#pragma unroll
  for (int i = 0; i < PATCH_M; ++i) {
#pragma unroll
    for (int j = 0; j < PATCH_N / 4; ++j) sum[i][j] = (float4)(0.0f);
  }

  int left = K;
  for (; left >= UNROLL_K; left -= UNROLL_K) {
    BEGIN_PART
#pragma unroll
    for (int u = 0; u < UNROLL_K; ++u) MULTIPLY(u);
    END_PART
    down += 4 * LHS_STEP * UNROLL_K;
    RHS_NEXT(UNROLL_K);
  }
  for (; left > 0; --left) {
    BEGIN_PART
    MULTIPLY(0);
    END_PART
    down += 4 * LHS_STEP;
    RHS_NEXT(1);
  }

  // The rows move up instead of being indexed, so that they stay in registers although the epilogue's
  // text, which may be long, stands once for each vector. Places without a sign are divided by fewer instructions.
  const uint m0 = (place >> 16) * PATCH_M;
  const uint n0 = (place & 65535) * PATCH_N;
  for (int i = 0; i < PATCH_M; ++i) {
    const uint m = min(m0 + i, (uint)M - 1);
    FINISH(0)
#if PATCH_N == 8
    FINISH(1)
#endif
  }
  // Without a branch between them rows share the divisions that their places in dst take. The places of 64 elements
  // one by one would not fit the registers.
#if defined(TOGETHER4_dst) || PATCH_M * PATCH_N < 64
  const bool is_whole = m0 + PATCH_M <= (uint)M && n0 + PATCH_N <= (uint)N;
#if defined(TOGETHER4_dst) && PATCH_N == 8
  if (is_whole && TOGETHER4_dst(m0, n0) && TOGETHER4_dst(m0, n0 + 4)) {
#elif defined(TOGETHER4_dst)
  if (is_whole && TOGETHER4_dst(m0, n0)) {
#else
  if (is_whole) {
#endif
#pragma unroll
    for (int i = 0; i < PATCH_M; ++i) {
      STORE4_dst(m0 + i, n0, sum[i][0]);
#if PATCH_N == 8
      STORE4_dst(m0 + i, n0 + 4, sum[i][1]);
#endif
    }
    return;
  }
#endif
  for (uint m = m0; m < min(m0 + PATCH_M, (uint)M); ++m) {
    STORE_EDGE(0)
#if PATCH_N == 8
    STORE_EDGE(1)
#endif
  }
}
#undef FOUR
#undef SUM
#undef EACH_SUM
#undef BEGIN_PART
#undef END_PART
#undef FOUR_DOWN
#undef FOUR_ACROSS
#undef LHS_STEP
#undef RHS_STEP
#undef AT4_ACROSS
#undef RHS_NEXT
#undef PATCH_ROW
#undef PATCH_COLUMN
#undef MULTIPLY
#undef FINISH
#undef STORE_EDGE
