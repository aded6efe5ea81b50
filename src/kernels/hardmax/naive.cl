// SPDX-License-Identifier: Apache-2.0
//
// hardmax.naive: dst[m,l,n] = EPILOGUE(1 where l is the first of the largest src[m,l,n] along l, else 0), for any
// formats.
//
//   src(m, l, n), dst(m, l, n)   through accessors
//
//           l ->
//        n [x x X x x]  [0 0 1 0 0]    one work-item: one row along l, which it reads once and writes once; rows
//        | [x X x x x]  [0 1 0 0 0]    are counted along n, then m, and spread over two dimensions of 32,768
//        v                             at most
//
// A NaN counts as larger than every number.
//
// Tunables: LOCAL, work-items of a work-group.
__kernel ATTRIBUTES void naive(ARGUMENTS) {
  ROW_OF_ITEM(m, n)
  TYPE_acc largest = LOAD_src(m, 0, n);
  int place = 0;
  for (int l = 1; l < L; ++l) {
    const TYPE_acc value = LOAD_src(m, l, n);
    if (!(value <= largest) && largest == largest) {
      largest = value;
      place = l;
    }
  }
  for (int l = 0; l < L; ++l) {
    const TYPE_acc result = l == place ? 1 : 0;
    STORE_dst(m, l, n, EPILOGUE(result, m, l, n));
  }
}
