// SPDX-License-Identifier: Apache-2.0
//
// cumulative_sum.naive: dst[m,l,n] = EPILOGUE(sum of src[m,j,n] over all j <= l), for any formats; with
// EXCLUSIVE 1 over j < l, with REVERSE 1 over j >= l, with both over j > l.
//
//   src(m, l, n), dst(m, l, n)   through accessors
//
//           l ->
//        n [a b c]  [a a+b a+b+c]    one work-item: one row along l, from its first to its last element, or
//        | [d e f]  [d d+e d+e+f]    back; rows are counted along n, then m, and spread over two dimensions
//        v                           of 32,768 at most
//
// Tunables: LOCAL, work-items of a work-group.
__kernel ATTRIBUTES void naive(ARGUMENTS) {
  ROW_OF_ITEM(m, n)
  TYPE_acc total = 0;
  for (int i = 0; i < L; ++i) {
    const int l = REVERSE ? L - 1 - i : i;
    const TYPE_acc before = total;
    total += LOAD_src(m, l, n);
    const TYPE_acc result = EXCLUSIVE ? before : total;
    STORE_dst(m, l, n, EPILOGUE(result, m, l, n));
  }
}
