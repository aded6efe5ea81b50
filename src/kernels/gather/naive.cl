// SPDX-License-Identifier: Apache-2.0
//
// gather.naive: dst[d0, d1, ...] = src[d0, d1, ..., i], where i is what index holds: for L = 1 the element
// index[d0, d1, ..., 0], else L elements of it in mixed radix, whose extents are I0 to I3.
//
//   src(d0, d1, ..., i), index(d0, d1, ..., l), dst(d0, d1, ...)   through accessors
//
//        index  2 0       src   a b      dst   e f        one work-item: one element of dst, in the order of
//                               c d            a b        its memory
//                               e f
//
// A negative index counts from the end. Where one lies outside nothing is read and dst becomes 0: ONNX leaves
// that open.
//
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements_dst, padding included, is countable in 31 bits.
__kernel ATTRIBUTES void gather_naive(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)elements_dst) return;
  COORDINATES_OF_dst(e);
  TYPE_dst value = 0;
  if (INSIDE_dst) {
    FIND_PLACE(i, LOAD_index(COORDINATES))
    if (i >= 0) value = LOAD_src(COORDINATES);
  }
  STORE_dst_AT(e, value);
}
