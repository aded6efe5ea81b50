// SPDX-License-Identifier: Apache-2.0
//
// sigmoid.unbound, sigmoid.unbound_f16: dst[i] = 1 / (1 + exp(-src[i])) for each element, in the order of
// memory.
//
//   src, dst  both in the same layout, whichever it is; of halves, R
//
//       [0 1 2 3][4 5 6 7] ...     one work-item: four elements, whatever row and column they are
//
// A matrix that takes its activation needs no coordinates. Padding is computed too: what is finite stays
// finite. Only the last work-item asks where the end is.
// Halves are loaded and stored as such, and computed as floats.
//
// Tunables: LOCAL, work-items of a work-group.
// Source: R17, section 9.2, "Unbound" (one element each there).
__kernel ATTRIBUTES void sigmoid_unbound(ARGUMENTS) {
  const int i = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (4 * i + 3 < elements_dst) {
    PUT4_dst(i, 1.0f / (1.0f + exp(-AT4_src(i))));
    return;
  }
  for (int e = 4 * i; e < elements_dst; ++e) PUT_dst(e, 1.0f / (1.0f + exp(-AT_src(e))));
}
