// SPDX-License-Identifier: Apache-2.0
//
// scatter.naive: dst[o,d,i] = src[o,d,i], and for each m in order dst[o,d,i] is combined with update[o,m,i], where d
// is what index holds: for L = 1 the element index[o,m,0,i], else L elements of it in mixed radix, whose extents are I0
// to I3. REDUCTION 0: it becomes the update; 1: sum, 2: product, 3: the larger one, 4: the smaller one.
//
//   src, dst  ODI, as they lie in memory     index(o, m, l, i), update(o, m, i)   through accessors
//
//        dst[o]   i ->
//        d  [x x|. .]     one work-item: a range of d and some columns i of one o. It copies src, then it walks all m
//        |  [x x|. .]     and takes those that fall into its range. So no element has two writers, and the order is
//        v   -------      that of m.
//           [. .|. .]
//
// A negative index counts from the end. One that lies outside changes nothing. With SHARED the indices do not depend
// on i. A NaN is the larger, and the smaller one.
//
// Tunables: ITEMS, about how many work-items share the work; TOGETHER, 1: the columns of a work-item are neighbours,
//     which CPUs need, 0: those of neighbouring work-items are; LOCAL, work-items of a work-group.
// Assumes: elements of each operand are countable in 31 bits.
#if REDUCTION == 0
#define SCATTERED(e, v) (v)
#elif REDUCTION == 1
#define SCATTERED(e, v) (TYPE_dst)(AT_dst(e) + (v))
#elif REDUCTION == 2
#define SCATTERED(e, v) (TYPE_dst)(AT_dst(e) * (v))
#elif REDUCTION == 3
#define SCATTERED(e, v) ((v) > AT_dst(e) || (v) != (v) ? (v) : AT_dst(e))
#else
#define SCATTERED(e, v) ((v) < AT_dst(e) || (v) != (v) ? (v) : AT_dst(e))
#endif

__kernel ATTRIBUTES void scatter_naive(ARGUMENTS) {
  const int most = max(ITEMS / O, 1);
#if SHARED && TOGETHER
  const int ranges = min(D, most);
  const int blocks = min(I, max(most / ranges, 1));
#else
  const int blocks = min(I, most);
  const int ranges = min(D, max(most / blocks, 1));
#endif
  const int items = (int)(get_global_size(0) * get_global_size(1));
  for (int item = (int)(get_global_id(1) * get_global_size(0) + get_global_id(0)); item < O * blocks * ranges;
       item += items) {
    const int block = item % blocks;
    const int range = item / blocks % ranges;
    const int o = item / (blocks * ranges);
    const int first = share(D, range, ranges);
    const int end = share(D, range + 1, ranges);
    const int left = TOGETHER ? share(I, block, blocks) : block;
    const int right = TOGETHER ? share(I, block + 1, blocks) : I;
    const int step = TOGETHER ? 1 : blocks;
    for (int d = first; d < end; ++d) {
      const int row = (o * D + d) * I;
      for (int i = left; i < right; i += step) PUT_dst(row + i, AT_src(row + i));
    }
    for (int m = 0; m < M; ++m) {
#if SHARED
      FIND_PLACE(d, LOAD_index(o, m, l, left))
      if (d < first || d >= end) continue;
      const int row = (o * D + d) * I;
      for (int i = left; i < right; i += step) {
        const TYPE_update value = LOAD_update(o, m, i);
        PUT_dst(row + i, SCATTERED(row + i, value));
      }
#else
      for (int i = left; i < right; i += step) {
        FIND_PLACE(d, LOAD_index(o, m, l, i))
        if (d < first || d >= end) continue;
        const TYPE_update value = LOAD_update(o, m, i);
        const int e = (o * D + d) * I + i;
        PUT_dst(e, SCATTERED(e, value));
      }
#endif
    }
  }
}
#undef SCATTERED
