// SPDX-License-Identifier: Apache-2.0
//
// softmax.rows: dst[r,l] = exp(src[r,l] - max over l) / sum over l of exp(src[r,l] - max over l).
//
//   src(r, l), dst(r, l)   through accessors
//
//           l ->
//        r [x x x x x]     one work-item: one row, read three times (largest, sum, result);
//        | [x x x x x]     rows are spread over two dimensions of 32,768 at most
//        v
//
// Subtracting the largest element keeps exp() at 1 or below, so no row overflows; a NaN anywhere in a
// row makes the whole row NaN.
//
// Tunables: LOCAL, work-items of a work-group.
__kernel ATTRIBUTES void rows(ARGUMENTS) {
  const uint r = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (r >= (uint)R) return;
  TYPE_acc largest = LOAD_src(r, 0);
  for (int l = 1; l < L; ++l) largest = fmax(largest, LOAD_src(r, l));
  TYPE_acc sum = 0;
  for (int l = 0; l < L; ++l) sum += exp(LOAD_src(r, l) - largest);
  for (int l = 0; l < L; ++l) STORE_dst(r, l, exp(LOAD_src(r, l) - largest) / sum);
}
