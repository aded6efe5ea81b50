// SPDX-License-Identifier: Apache-2.0
//
// pack.part_lines: dst[view(d0, d1, ...)] = src[d0, d1, ...], where src is a part of dst: one of several tensors that
// are joined. dst is written nowhere else. For CPUs.
//
//   src(d0, d1, ...), dst(d0, d1, ...)   through accessors
//
//        memory of src   [ line 0 ][ line 1 ][ line 2 ] ...       one work-item: its share of the lines
//        dst             . . . [ line 0 ] . . . . [ line 1 ] . . .
//
// A line is the innermost loop of src's layout, along which the place in dst is a sum. Where it takes divisions,
// the rows of the problem are copied one by one, the place of each worked out once.
//
// Work-items are eight for each compute unit at most.
//
// Tunables: RANGE, elements of a work-item at least.
// Assumes: elements of dst are countable in 31 bits.
__kernel ATTRIBUTES void pack_part_lines(ARGUMENTS) {
  const int item = (int)get_global_id(0);
  const int items = (int)get_global_size(0);
#if NEST_src
  NEST_EACH_LINE(line, share(NEST_LINES, item, items), share(NEST_LINES, item + 1, items)) {
    const int start = line * NEST_LENGTH;
    const int inside = NEST_DATA;
    for (int i = 0; i < inside; ++i) GIVE_dst(NEST_PLACE_dst(i), TAKE_src(start + i));
  }
#else
  const int last = share(part_rows, item + 1, items);
  for (int row = share(part_rows, item, items); row < last; ++row) {
    COORDINATES_OF_ROW(row);
    for (int COLUMN = 0; COLUMN < part_columns; ++COLUMN) STORE_dst(COORDINATES, LOAD_src(COORDINATES));
  }
#endif
}
