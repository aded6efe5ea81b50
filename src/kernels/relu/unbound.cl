// SPDX-License-Identifier: Apache-2.0
//
// relu.unbound: dst[i] = max(src[i], 0) for each element, in the order of memory.
//
//   src, dst  both in the same layout, whichever it is
//
//       [0 1 2 3][4 5 6 7] ...     one work-item: four elements, whatever row and column they are
//
// Padding is computed too: what is finite stays finite. A NaN stays one.
// Tunables: LOCAL, work-items of a work-group.
// Source: R17, section 9.2: the order that was best for the sigmoid. Its text of a ReLU (source 12.8) is
// the sigmoid's.
__kernel ATTRIBUTES void relu_unbound(ARGUMENTS) {
  const int i = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (4 * i + 3 < elements_dst) {
    const float4 values = AT4_src(i);
    PUT4_dst(i, select(values, (float4)(0.0f), values < 0.0f));
    return;
  }
  for (int e = 4 * i; e < elements_dst; ++e) PUT_dst(e, AT_src(e) < 0.0f ? 0.0f : AT_src(e));
}
