// SPDX-License-Identifier: Apache-2.0
//
// gemm.rm_rm: dst[m,n] = sum over k of lhs[m,k] * rhs[k,n]. The baseline that the ladder starts from.
//
//   lhs  R   m*K + k
//   rhs  R   k*N + n
//   dst  R   m*N + n
//
//                  rhs    n            a work-item computes one element; it walks along a row of lhs
//                      k  |            and down a column of rhs, where each step is N elements long:
//        lhs  k -->       v            on a device without coalescing that is a cache line for each
//          m  . . . .    [x]
//
// A work-group covers a tile of LOCAL_M rows x LOCAL_N columns. R17 first leaves its size to the driver;
// here sizes are always stated, so this rung has what a driver that fills the first dimension first
// would choose: 64 x 1. gemm.rm_rm_4x16 is the same kernel in R17's 4 x 16: 20 rows and columns serve 64
// results, where 64 x 1 reads 65.
//
// Tunables: LOCAL_M, LOCAL_N.
// Source: R17, section 6.1 (source 6.1) and section 7.2.
__kernel ATTRIBUTES void rm_rm(ARGUMENTS) {
  const int m = get_global_id(0);
  const int n = get_global_id(1);
  if (m >= M || n >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += lhs[m * K + k] * rhs[k * N + n];
  dst[m * N + n] = sum;
}
