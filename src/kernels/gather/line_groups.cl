// SPDX-License-Identifier: Apache-2.0
//
// gather.line_groups: as gather.naive, for GPUs and long lines.
//
//   src(d0, d1, ..., i), index(d0, d1, ..., l), dst(d0, d1, ...)   through accessors
//
//        index  2 0       src   [a b c d]      dst   [i j k l]      a line: dst's innermost loop. A work-group takes
//                               [e f g h]            [a b c d]      one, and goes on with the one that is (number of
//                               [i j k l]                           work-groups) further on
//
// gather.naive divides for each dimension of each element. Along a line places are sums of counters, and where it has one
// index, that is looked up once by each work-item: what is left is a copy.
//
// Where dst has no such lines, or short ones, the elements are found one by one, as in gather.naive.
//
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements_dst, padding included, is countable in 31 bits.

__kernel ATTRIBUTES void gather_line_groups(ARGUMENTS) {
  const int groups = (int)get_num_groups(0);
  const int group = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
#if NEST_dst
#define HAS_LONG_LINES (NEST_BLOCK >= 32)
#else
#define HAS_LONG_LINES 0
#endif
#if HAS_LONG_LINES
  for (int at = group; at < NEST_LINES; at += groups) {
    NEST_EACH_LINE(line, at, at + 1) {
      const int e = line * NEST_LENGTH;
#if NEST_SHARED
      // A line of padding has no index.
      int found = -1;
      if (NEST_DATA > 0) {
        FIND_PLACE(place, NEST_LOAD_index(l, 0))
        found = place;
      }
#pragma unroll 4
      for (int i = item; i < NEST_LENGTH; i += LOCAL) {
        TYPE_dst value = 0;
        if (found >= 0 && i < NEST_DATA) value = NEST_LOAD_src(found, i);
        STORE_dst_AT(e + i, value);
      }
#else
      for (int i = item; i < NEST_LENGTH; i += LOCAL) {
        TYPE_dst value = 0;
        if (i < NEST_DATA) {
          FIND_PLACE(place, NEST_LOAD_index(l, i))
          if (place >= 0) value = NEST_LOAD_src(place, i);
        }
        STORE_dst_AT(e + i, value);
      }
#endif
    }
  }
#else
  for (int e = group * LOCAL + item; e < elements_dst; e += groups * LOCAL) {
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
#undef HAS_LONG_LINES
