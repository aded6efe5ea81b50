// SPDX-License-Identifier: Apache-2.0
//
// integer_gemm.naive: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]).
//
// The product of 8-bit matrices that is always possible, with operands in any order. Sums are exact
// 32-bit integers, on which the epilogue works.
//
//   lhs(m, k), rhs(k, n), dst(m, n)   through accessors
//
//                  rhs    n
//                      k  |         one work-item: one element of dst
//        lhs  k -->       v
//          m  . . . .    [x]
//
// Work-items are numbered along n, then m, and spread over two dimensions of 32,768 at most.
//
// Tunables: LOCAL, work-items of a work-group.
__kernel ATTRIBUTES void integer_naive(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)(M * N)) return;
  const int m = e / N;
  const int n = e % N;
  int sum = 0;
  for (int k = 0; k < K; ++k) sum += (int)LOAD_lhs(m, k) * (int)LOAD_rhs(k, n);
  STORE_dst(m, n, EPILOGUE(sum, m, n));
}
