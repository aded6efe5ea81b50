// SPDX-License-Identifier: Apache-2.0
//
// softmax.rows: dst[m,l,n] = EPILOGUE(exp(src[m,l,n] - largest) / sum over l of exp(src[m,l,n] - largest)), or
// with LOG 1 src[m,l,n] - largest - log(that sum), for any formats.
//
//   src(m, l, n), dst(m, l, n)   through accessors
//
//           l ->
//        n [x x x x x]     one work-item: one row along l, read three times (largest, sum, result);
//        | [x x x x x]     rows are counted along n, then m, and spread over two dimensions of
//        v                 32,768 at most
//
// Subtracting the largest element keeps exp() at 1 or below, so no row overflows; a NaN anywhere in a
// row makes the whole row NaN.
//
// Tunables: LOCAL, work-items of a work-group.
__kernel ATTRIBUTES void rows(ARGUMENTS) {
  ROW_OF_ITEM(m, n)
  TYPE_acc largest = LOAD_src(m, 0, n);
  for (int l = 1; l < L; ++l) largest = fmax(largest, LOAD_src(m, l, n));
  TYPE_acc sum = 0;
  for (int l = 0; l < L; ++l) sum += exp(LOAD_src(m, l, n) - largest);
#if LOG
  const TYPE_acc log_of_sum = log(sum);
#endif
  for (int l = 0; l < L; ++l) {
    const TYPE_acc distance = LOAD_src(m, l, n) - largest;
#if LOG
    const TYPE_acc result = distance - log_of_sum;
#else
    const TYPE_acc result = exp(distance) / sum;
#endif
    STORE_dst(m, l, n, EPILOGUE(result, m, l, n));
  }
}
