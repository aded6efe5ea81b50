// SPDX-License-Identifier: Apache-2.0
//
// suppression.naive: dst[b,c,m] = 1 where greedy non-maximum suppression keeps candidate m, else 0
// (src/problems/movement/suppression.cpp), on any device.
//
//   boxes(b, n, q), order(b, c, m), count(b, c), threshold(0), most(0)   through accessors
//   dst  BCM   (b*C + c)*M + m
//
//        dst[b,c]   [1 0 1 1 .]     one work-item: one class of one image. It compares candidate m with those before
//                         ^ m       it that are kept, which dst tells
//
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits.
#define BOX(n) \
  ordered_corners((float4)(LOAD_boxes(b, n, 0), LOAD_boxes(b, n, 1), LOAD_boxes(b, n, 2), LOAD_boxes(b, n, 3)))

__kernel ATTRIBUTES void naive(ARGUMENTS) {
#pragma OPENCL FP_CONTRACT OFF
  const int row = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (row >= B * C) return;
  const int b = row / C;
  const int c = row % C;
  const float limit = LOAD_threshold(0);
  const float half_step = half_step_above(limit);
  const long candidates = LOAD_count(b, c);
  const long most_kept = LOAD_most(0);
  int kept = 0;
  for (int m = 0; m < M; ++m) {
    const long n = LOAD_order(b, c, m);
    int keeps = m < candidates && kept < most_kept && n >= 0 && n < N;
    if (keeps) {
      const float4 own = BOX((int)n);
      for (int k = 0; keeps && k < m; ++k) {
        if (AT_dst(row * M + k) == 0) continue;
        const int o = LOAD_order(b, c, k);
        const float4 other = BOX(o);
        const float both = OVERLAP(own.x, own.z, other.x, other.z, 0.0f) * OVERLAP(own.y, own.w, other.y, other.w, 0.0f);
        const float all = AREA(own) + AREA(other) - both;
        keeps = !IS_ABOVE(both, all, limit, half_step);
      }
    }
    PUT_dst(row * M + m, keeps);
    kept += keeps;
  }
}
#undef BOX
