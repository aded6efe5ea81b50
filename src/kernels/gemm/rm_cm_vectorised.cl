// SPDX-License-Identifier: Apache-2.0
//
// gemm.rm_cm_vectorised: dst[m,n] = sum over k of lhs[m,k] * rhs[k,n], four k at a time.
//
//   lhs  R   m*K_pad + k
//   rhs  C   n*K_pad + k
//   dst  C   n*M + m
//
//                        rhs   n
//                            k 0
//                            . 1       a work-item computes one element; each step loads a vector of
//                            . 2       four from either side and adds their dot product
//        lhs  k . . .       +3 3
//          m  0 1 2 3         [x]
//
// A work-group covers a tile of LOCAL_M rows x LOCAL_N columns.
//
// Assumes: K_pad is a multiple of 4; lhs is zero where k >= K, so that the (finite) values of rhs there
// count nothing.
// Tunables: LOCAL_M, LOCAL_N.
// Source: R17, section 7.3 (source 7.2).
__kernel ATTRIBUTES void rm_cm_vectorised(ARGUMENTS) {
  const int m = get_global_id(0);
  const int n = get_global_id(1);
  if (m >= M || n >= N) return;
  __global const float4* row = (__global const float4*)lhs + m * (K_pad / 4);
  __global const float4* column = (__global const float4*)rhs + n * (K_pad / 4);
  float sum = 0.0f;
  for (int i = 0; i < K_pad / 4; ++i) sum += dot(row[i], column[i]);
  dst[n * M + m] = sum;
}
