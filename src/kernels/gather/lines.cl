// SPDX-License-Identifier: Apache-2.0
//
// gather.lines: as gather.naive, for CPUs.
//
//   src(d0, d1, ..., i), index(d0, d1, ..., l), dst(d0, d1, ...)   through accessors
//
//        index  2 0       src   [a b c d]      dst   [i j k l]      a line: dst's innermost loop
//                               [e f g h]            [a b c d]
//                               [i j k l]                           one work-item: its share of the lines, or
//                                                                   of one line where there are too few
//
// An element's place costs gather.naive a division for each dimension. Along a line the places are sums of counters,
// but where the line joins several dimensions. Where it has one index, that is looked up once, and the line is a copy.
//
// Where dst has no such lines, the elements are found one by one, as in gather.naive.
//
// Tunables: RANGE, elements of a work-item at least.
// Assumes: elements_dst, padding included, is countable in 31 bits.

__kernel ATTRIBUTES void gather_lines(ARGUMENTS) {
  const int items = (int)get_global_size(0);
  const int item = (int)get_global_id(0);
#if NEST_dst
  const int pieces = max(items / NEST_LINES, 1);
  const int shares = items / pieces;
  const int own = item / pieces;
  if (own >= shares) return;
  const int first = share(NEST_LENGTH, item % pieces, pieces);
  const int last = share(NEST_LENGTH, item % pieces + 1, pieces);
  NEST_EACH_LINE(line, share(NEST_LINES, own, shares), share(NEST_LINES, own + 1, shares)) {
    const int e = line * NEST_LENGTH;
    const int inside = min(last, NEST_DATA);
    int i = first;
#if NEST_SHARED
    if (inside > first) {
      FIND_PLACE(place, NEST_LOAD_index(l, 0))
      if (place >= 0) {
        for (; i < inside; ++i) STORE_dst_AT(e + i, NEST_LOAD_src(place, i));
      }
    }
#else
    for (; i < inside; ++i) {
      FIND_PLACE(place, NEST_LOAD_index(l, i))
      // The first element stands in for one that is not there, so that nothing need branch.
      const TYPE_dst value = NEST_LOAD_src(max(place, 0), i);
      STORE_dst_AT(e + i, place < 0 ? (TYPE_dst)0 : value);
    }
#endif
    for (; i < last; ++i) STORE_dst_AT(e + i, (TYPE_dst)0);
  }
#else
  const int end = share(elements_dst, item + 1, items);
  for (int e = share(elements_dst, item, items); e < end; ++e) {
    COORDINATES_OF_dst(e);
    TYPE_dst value = 0;
    if (INSIDE_dst) {
      FIND_PLACE(i, LOAD_index(COORDINATES))
      if (i >= 0) value = LOAD_src(COORDINATES);
    }
    STORE_dst_AT(e, value);
  }
#endif
}
