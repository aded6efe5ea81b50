// SPDX-License-Identifier: Apache-2.0
//
// top_k.passes: dst[m,k,n] = the K largest src[m,l,n] along l in their order, or with SMALLEST 1 the K smallest; with
// INDICES 1 their l in place of them. For any formats and few results of long rows.
//
//   src(m, l, n), dst(m, k, n)   through accessors
//
//           l ->
//        n [ 5 9 2 9 ]   one work-item: one row along l. Pass k finds the first of what comes behind the result of
//            - 0 - 1     pass k - 1; rows are counted along n, then m, and spread over two dimensions of 32,768
//                        at most
//
// Of equal elements the first comes first. A NaN comes before every number where the largest are wanted, and after
// it where the smallest are.
//
// Tunables: LOCAL, work-items of a work-group.
__kernel ATTRIBUTES void passes(ARGUMENTS) {
  ROW_OF_ITEM(m, n)
  TYPE_src last = 0;
  int last_place = -1;
  for (int k = 0; k < K; ++k) {
    TYPE_src best = 0;
    int place = -1;
    for (int l = 0; l < L; ++l) {
      const TYPE_src value = LOAD_src(m, l, n);
      const int left = k == 0 || BEFORE(last, value) || (l > last_place && !BEFORE(value, last));
      if (left && (place < 0 || BEFORE(value, best))) {
        best = value;
        place = l;
      }
    }
#if INDICES
    STORE_dst(m, k, n, (TYPE_dst)place);
#else
    STORE_dst(m, k, n, best);
#endif
    last = best;
    last_place = place;
  }
}
