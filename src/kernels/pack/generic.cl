// SPDX-License-Identifier: Apache-2.0
//
// pack.generic: dst[d0, d1, ...] = src[d0, d1, ...], from any arrangement and through any view to any
// arrangement: a change of layout, im2col, padding, a transpose.
//
//   src(d0, d1, ...), dst(d0, d1, ...)   through accessors
//
//        src   0 1 2      dst (R_2_2_R, padded to 4 x 4)    0 1 3 4 | 2 p 5 p | 6 7 p p | 8 p p p
//              3 4 5                                        e = 0 1 2 3 ...
//              6 7 8                                        p: padding, written as zero
//
// One work-item writes one element of dst, in the order of its memory: reads may scatter, writes never
// do. Work-items are spread over two dimensions of 32,768 at most.
//
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements_dst, padding included, is countable in 31 bits.
__kernel ATTRIBUTES void pack_generic(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)elements_dst) return;
  COORDINATES_OF_dst(e);
  TYPE_dst value = 0;
  if (INSIDE_dst) value = LOAD_src(COORDINATES);
  STORE_dst_AT(e, value);
}
