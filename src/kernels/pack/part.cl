// SPDX-License-Identifier: Apache-2.0
//
// pack.part: dst[view(d0, d1, ...)] = src[d0, d1, ...], where src is a part of dst: one of several tensors that
// are joined. dst is written nowhere else.
//
//   src(d0, d1, ...), dst(d0, d1, ...)   through accessors
//
//        rows of src   [ item 0 | item 1 | item ... ]     one work-item: RUN neighbours along the last dimension
//        in dst        . . [ item 0 | item 1 | ... ] .
//
// The place of a row is worked out once for RUN elements. Work-items are spread over two dimensions of 32,768
// at most.
//
// Tunables: RUN, elements of a work-item; LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits.
__kernel ATTRIBUTES void pack_part(ARGUMENTS) {
  const uint unit = get_global_id(1) * get_global_size(0) + get_global_id(0);
  const uint in_a_row = (part_columns + RUN - 1) / RUN;
  const int line = unit / in_a_row;
  if (line >= part_rows) return;
  COORDINATES_OF_ROW(line);
  const int first = unit % in_a_row * RUN;
  const int last = min(first + RUN, part_columns);
  for (int COLUMN = first; COLUMN < last; ++COLUMN) STORE_dst(COORDINATES, LOAD_src(COORDINATES));
}
