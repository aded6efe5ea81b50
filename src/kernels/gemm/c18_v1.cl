// SPDX-License-Identifier: Apache-2.0
//
// gemm.c18_v1, gemm.c18_v1_f16: dst[m,n] = sum over k of lhs[m,k] * rhs[k,n], row times column, "just like a human".
//
//   lhs  R   m*K + k
//   rhs  R   k*N + n
//   dst  R   m*N + n
//
//                 rhs   n n+1           one element for each work-item. The first global id is the column,
//                    k  | |             so that neighbours read neighbours of rhs and share an element of
//        lhs  k -->     v v             lhs; gemm.rm_rm, R17's baseline, has the row first
//          m  . . .    [x|x]
//
// A work-group covers a tile of LOCAL_M rows x LOCAL_N columns. C18 names no size; 16 x 16 is the one of
// its next version.
//
// Tunables: LOCAL_M, LOCAL_N.
// Source: C18, section VII.C.1 (kernel version 1; its text is not printed).
__kernel ATTRIBUTES void c18_v1(ARGUMENTS) {
  const int n = get_global_id(0);
  const int m = get_global_id(1);
  if (m >= M || n >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += AT_lhs(m * K + k) * AT_rhs(k * N + n);
  PUT_dst(m * N + n, sum);
}
