// SPDX-License-Identifier: Apache-2.0
//
// elementwise.chain: dst[d0, d1, ...] = EPILOGUE(src0[d0, d1, ...]); side operands come in through
// the epilogue.
//
//   src0(d0, d1, ...), dst(d0, d1, ...)   through accessors
//
//        memory of dst    [e0 e1 e2 | e3 e4 .. | .. p p]      one work-item: one element of dst
//                         work-group  work-group              p: padding, written as zero
//
// Work-items follow the order of dst in memory, so that neighbours write neighbours whatever the
// layout, and are spread over two dimensions of 32,768 at most.
//
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements_dst, padding included, is countable in 31 bits.
__kernel ATTRIBUTES void chain(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)elements_dst) return;
  COORDINATES_OF_dst(e);
  TYPE_dst value = 0;
  if (INSIDE_dst) value = EPILOGUE(LOAD_src0(COORDINATES), COORDINATES);
  STORE_dst_AT(e, value);
}
