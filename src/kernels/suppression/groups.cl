// SPDX-License-Identifier: Apache-2.0
//
// suppression.groups: dst[b,c,m] = 1 where greedy non-maximum suppression keeps candidate m, else 0
// (src/problems/movement/suppression.cpp), for GPUs.
//
//   boxes  BNQ   (b*N + n)*4 + q     order, dst  BCM   (b*C + c)*M + m
//   count(b, c), threshold(0), most(0)   through accessors
//
//            m ... m + LOCAL - 1
//     kept  [ x x x x x x x x ]     a work-group: one class of one image, LOCAL candidates at a time; no other waits for
//     kept  [ x x x x x x x x ]     it. A work-item: one candidate. It is struck out by boxes that are kept, LOCAL of
//      ...                          which lie in local memory. Then the work-item marks which candidates of the chunk
//                                   before its own suppress it. All work-items go through the marks and find the same
//
// Until all chunks are done dst[b,c] lists which candidates are kept. Then it becomes what it must be, from the end: the
// k-th candidate that is kept is not before k.
//
// Tunables: LOCAL, work-items of a work-group, whose marks are bits.
// Assumes: elements of boxes and dst are countable in 31 bits.
#define IS_SUPPRESSED_BY(box) IS_ABOVE(BOTH(box), own_area + AREA(box) - BOTH(box), limit, half_step)
#define BOTH(box) (OVERLAP(own.x, own.z, box.x, box.z, 0.0f) * OVERLAP(own.y, own.w, box.y, box.w, 0.0f))

__kernel ATTRIBUTES void groups(ARGUMENTS) {
#pragma OPENCL FP_CONTRACT OFF
  __local float4 others[LOCAL];
  __local ulong marks[LOCAL];
  const int row = get_group_id(1) * get_num_groups(0) + get_group_id(0);
  if (row >= B * C) return;
  const int item = get_local_id(0);
  const int b = row / C;
  const int first = row * M;
  const float limit = LOAD_threshold(0);
  const float half_step = half_step_above(limit);
  const int candidates = (int)clamp((long)LOAD_count(b, row % C), 0L, (long)M);
  const int most_kept = (int)clamp((long)LOAD_most(0), 0L, (long)M);
  int kept = 0;
  for (int start = 0; start < candidates && kept < most_kept; start += LOCAL) {
    const long n = start + item < candidates ? AT_order(first + start + item) : -1;
    int is_left = n >= 0 && n < N;
    const float4 own = ordered_corners(is_left ? AT4_boxes(b * N + (int)n) : (float4)(0.0f));
    const float own_area = AREA(own);
    for (int k = 0; k < kept; k += LOCAL) {
      const int count_here = min(kept - k, LOCAL);
      if (item < count_here) {
        const int other = AT_order(first + AT_dst(first + k + item));
        others[item] = ordered_corners(AT4_boxes(b * N + other));
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int i = 0; is_left && i < count_here; ++i) is_left = !IS_SUPPRESSED_BY(others[i]);
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    others[item] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    // Its own bit stands for what is out already.
    ulong mark = is_left ? 0 : (ulong)1 << item;
    for (int i = 0; is_left && i < item; ++i) {
      if (IS_SUPPRESSED_BY(others[i])) mark |= (ulong)1 << i;
    }
    marks[item] = mark;
    barrier(CLK_LOCAL_MEM_FENCE);
    ulong taken = 0;
    int count_taken = 0;
    for (int i = 0; i < LOCAL && kept + count_taken < most_kept; ++i) {
      const ulong bit = (ulong)1 << i;
      if ((marks[i] & (taken | bit)) != 0) continue;
      taken |= bit;
      ++count_taken;
    }
    const ulong bit = (ulong)1 << item;
    if ((taken & bit) != 0) PUT_dst(first + kept + (int)popcount(taken & (bit - 1)), start + item);
    kept += count_taken;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
  for (int m = kept + item; m < M; m += LOCAL) PUT_dst(first + m, 0);
  for (int k = (kept - 1) / LOCAL * LOCAL; kept > 0 && k >= 0; k -= LOCAL) {
    const int is_one = k + item < kept;
    const int m = is_one ? AT_dst(first + k + item) : 0;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (is_one) PUT_dst(first + k + item, 0);
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (is_one) PUT_dst(first + m, 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
}
#undef IS_SUPPRESSED_BY
#undef BOTH
