// SPDX-License-Identifier: Apache-2.0
//
// gemm.rm_cm: dst[m,n] = sum over k of lhs[m,k] * rhs[k,n], the right side stored column by column.
//
//   lhs  R   m*K + k
//   rhs  C   n*K + k
//   dst  C   n*M + m
//
//                  rhs    n            one element for each work-item; both operands are now read along
//                      k  |            memory, so that a line of 16 floats serves 16 steps instead of one
//        lhs  k -->       v
//          m  . . . .    [x]           dst is stored as rhs is: it is the next layer's rhs
//
// A work-group covers a tile of LOCAL_M rows x LOCAL_N columns: 64 x 1 as a driver would choose it (see
// gemm.rm_rm). gemm.rm_cm_4x16 is the same kernel in R17's 4 x 16: 20 rows and columns serve 64 results,
// where 64 x 1 reads 65.
//
// Tunables: LOCAL_M, LOCAL_N.
// Source: R17, sections 7.1 (source 7.1) and 7.2.
__kernel ATTRIBUTES void rm_cm(ARGUMENTS) {
  const int m = get_global_id(0);
  const int n = get_global_id(1);
  if (m >= M || n >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += lhs[m * K + k] * rhs[n * K + k];
  dst[n * M + m] = sum;
}
