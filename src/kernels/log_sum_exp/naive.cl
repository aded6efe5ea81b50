// SPDX-License-Identifier: Apache-2.0
//
// log_sum_exp.naive: dst[m,n] = EPILOGUE(log(sum over l of exp(src[m,l,n]))), for any formats.
//
//   src(m, l, n), dst(m, n)   through accessors
//
//           l ->
//        n [x x x x x]     one work-item: one row along l, read twice (largest, sum of the exponentials of the
//        | [x x x x x]     distances from it); rows are counted along n, then m, and spread over two
//        v                 dimensions of 32,768 at most
//
// Subtracting the largest element, which is added again in the end, keeps exp() at 1 or below, so that
// no row overflows. Where the largest is infinite, it is the result.
//
// Tunables: LOCAL, work-items of a work-group.
__kernel ATTRIBUTES void naive(ARGUMENTS) {
  ROW_OF_ITEM(m, n)
  TYPE_acc largest = LOAD_src(m, 0, n);
  for (int l = 1; l < L; ++l) largest = fmax(largest, LOAD_src(m, l, n));
  const TYPE_acc shift = isinf(largest) ? 0 : largest;
  TYPE_acc sum = 0;
  for (int l = 0; l < L; ++l) sum += exp(LOAD_src(m, l, n) - shift);
  const TYPE_acc result = log(sum) + shift;
  STORE_dst(m, n, EPILOGUE(result, m, n));
}
