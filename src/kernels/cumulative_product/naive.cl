// SPDX-License-Identifier: Apache-2.0
//
// cumulative_product.naive: dst[m,l,n] = EPILOGUE(product of src[m,j,n] over all j <= l), for any formats; with
// EXCLUSIVE 1 over j < l, with REVERSE 1 over j >= l, with both over j > l.
//
//   src(m, l, n), dst(m, l, n)   through accessors
//
//           l ->
//        n [a b c]  [a ab abc]    one work-item: one row along l, from its first to its last element, or back; rows
//        | [d e f]  [d de def]    are counted along n, then m, and spread over two dimensions of 32,768 at most
//        v
//
// Tunables: LOCAL, work-items of a work-group.
__kernel ATTRIBUTES void naive(ARGUMENTS) {
  ROW_OF_ITEM(m, n)
  TYPE_acc total = 1;
  for (int i = 0; i < L; ++i) {
    const int l = REVERSE ? L - 1 - i : i;
    const TYPE_acc before = total;
    total *= LOAD_src(m, l, n);
    const TYPE_acc result = EXCLUSIVE ? before : total;
    STORE_dst(m, l, n, EPILOGUE(result, m, l, n));
  }
}
