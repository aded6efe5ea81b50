// SPDX-License-Identifier: Apache-2.0
//
// scatter.groups: dst[o,d] = src[o,d], and for each m in order dst[o,d] becomes update[o,m], where d is what index
// holds: for L = 1 the element index[o,m,0], else L elements of it in mixed radix, whose extents are I0 to I3. For GPUs:
// many updates of single elements (I = 1).
//
//   src, dst  ODI, as they lie in memory     index(o, m, l, 0), update(o, m, 0)   through accessors
//
//        dst[o]    [ RANGE | RANGE | ... ]     a work-group: RANGE neighbours of one o. All its work-items go through all
//                      ^       ^               indices of o together, from the last to the first, and note in local
//        index[o]  . . . . . . . . . . .  <-   memory the last m of each element. Then each element is stored once
//
// From the last to the first an element is noted about once, however many updates name it. A negative index counts from
// the end. One that lies outside changes nothing.
//
// Tunables: LOCAL, work-items of a work-group; RANGE, elements of dst; UNROLL, indices of a work-item under way.
// Assumes: elements of each operand are countable in 31 bits.
__kernel ATTRIBUTES void groups(ARGUMENTS) {
  __local int last[RANGE];
  const int item = get_local_id(0);
  const int ranges = (D + RANGE - 1) / RANGE;
  // The whole work-group goes round together, since it meets at barriers.
  for (int unit = get_group_id(1); unit < O * ranges; unit += get_num_groups(1)) {
    const int o = unit / ranges;
    const int first = unit % ranges * RANGE;
    const int count = min(RANGE, D - first);
    for (int e = item; e < count; e += LOCAL) last[e] = -1;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int end = M - item; end > 0; end -= UNROLL * LOCAL) {
      int found[UNROLL];
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) {
        FIND_PLACE(d, LOAD_index(o, max(end - 1 - u * LOCAL, 0), l, 0))
        found[u] = d - first;
      }
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) {
        const int m = max(end - 1 - u * LOCAL, 0);
        if (found[u] >= 0 && found[u] < count && last[found[u]] < m) atomic_max(&last[found[u]], m);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int e = item; e < count; e += LOCAL) {
      const int at = o * D + first + e;
      const int m = last[e];
      TYPE_dst value = AT_src(at);
      if (m >= 0) value = LOAD_update(o, m, 0);
      PUT_dst(at, value);
    }
    // The next range's may only come when these have been read.
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
