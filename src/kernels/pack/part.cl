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
// The place of a row is worked out once for RUN elements. Rows are spread over two dimensions of 32,768 at
// most.
//
// Tunables: RUN, elements of a work-item; LOCAL, work-items of a work-group, along a row.
// Assumes: elements of dst are countable in 31 bits.
__kernel ATTRIBUTES void pack_part(ARGUMENTS) {
  const int line = get_global_id(2) * get_global_size(1) + get_global_id(1);
  if (line >= part_rows) return;
  COORDINATES_OF_ROW(line);
  const int first = get_global_id(0) * RUN;
  const int last = min(first + RUN, COLUMNS);
  for (int COLUMN = first; COLUMN < last; ++COLUMN) STORE_dst(COORDINATES, LOAD_src(COORDINATES));
}
