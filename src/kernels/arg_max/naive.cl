// SPDX-License-Identifier: Apache-2.0
//
// arg_max.naive, arg_max.single: dst[m,n] = EPILOGUE(the l of the largest src[m,l,n]), or with SMALLEST 1
// of the smallest, for any formats.
//
//   src(m, l, n), dst(m, n)   through accessors
//
//           l ->
//        n [x x X x x]     one work-item: one row along l; rows are counted along n, then m, and spread over
//        | [x X x x x]     two dimensions of 32,768 at most
//        v
//
// Of equal elements the first counts, or with LAST 1 the last. A NaN counts as beyond every number.
//
// Tunables: LOCAL, work-items of a work-group; 1 in arg_max.single, for the answers of a batch (N = 1) on CPUs:
// it joins the launches of other kernels with one work-item.
#if SMALLEST
#define BETTER(a, b) ((a) < (b))
#else
#define BETTER(a, b) ((a) > (b))
#endif

__kernel ATTRIBUTES void naive(ARGUMENTS) {
  ROW_OF_ITEM(m, n)
  TYPE_src best = LOAD_src(m, 0, n);
  int place = 0;
  for (int l = 1; l < L; ++l) {
    const TYPE_src value = LOAD_src(m, l, n);
    const int is_nan = value != value;
    const int best_is_nan = best != best;
    const int equal = value == best || (is_nan && best_is_nan);
    const int better = (BETTER(value, best) && !best_is_nan) || (is_nan && !best_is_nan);
    if (better | (LAST & equal)) {
      best = value;
      place = l;
    }
  }
  const TYPE_acc result = place;
  STORE_dst(m, n, EPILOGUE(result, m, n));
}
#undef BETTER
