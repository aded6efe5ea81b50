// SPDX-License-Identifier: Apache-2.0
//
// gemm.naive: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]).
//
// The product that is always possible: operands may lie in any order, behind any view, and no
// extent need be a multiple of anything.
//
//   lhs(m, k), rhs(k, n), dst(m, n)   through accessors
//
//            n ->
//        +--------+        a work-group is 8 x 8 work-items, one for each element of its tile;
//      m | 8 x 8  |        work-items beyond M or N do nothing. Where M or N exceeds the global size
//      | +--------+        (at most 32,768), a work-item goes on to the element that lies a whole
//      v                   global size further.
//
// Tunables: none.
__kernel ATTRIBUTES void naive(ARGUMENTS) {
  for (int m = get_global_id(1); m < M; m += get_global_size(1)) {
    for (int n = get_global_id(0); n < N; n += get_global_size(0)) {
      TYPE_acc sum = 0;
      for (int k = 0; k < K; ++k) {
        sum += LOAD_lhs(m, k) * LOAD_rhs(k, n);
      }
      STORE_dst(m, n, EPILOGUE(sum, m, n));
    }
  }
}
