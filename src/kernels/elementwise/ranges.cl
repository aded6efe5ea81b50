// SPDX-License-Identifier: Apache-2.0
//
// elementwise.ranges: as chain, for CPUs.
//
//   src0(d0, d1, ...), dst(d0, d1, ...)   through accessors
//
//        memory of dst    [e0 e1 e2 ...... | e1024 ...... | ...]      one work-item: a range of dst
//
// Where all operands lie alike, or are one number, an element has the same number in each of them: no
// coordinates need be worked out. A block is computed before any of it is stored: dst may be the memory of
// an operand, and only so can a compiler make vectors of the loop.
//
// Tunables: RANGE, elements of a work-item at least.
// Assumes: elements_dst, padding included, is countable in 31 bits.
#define BLOCK 64

__kernel ATTRIBUTES void ranges(ARGUMENTS) {
  const int items = (int)get_global_size(0);
  const int item = (int)get_global_id(0);
  const int length = (elements_dst + items - 1) / items;
  const int first = item * length;
  const int last = min(first + length, elements_dst);
#if ALIKE_dst
  TYPE_dst values[BLOCK];
  int start = first;
  for (; start + BLOCK <= last; start += BLOCK) {
    for (int i = 0; i < BLOCK; ++i) {
      const int e = start + i;
      values[i] = EPILOGUE_AT(LOAD_src0_AT(e), e);
    }
    for (int i = 0; i < BLOCK; ++i) STORE_dst_AT(start + i, values[i]);
  }
  for (int e = start; e < last; ++e) {
    const TYPE_dst value = EPILOGUE_AT(LOAD_src0_AT(e), e);
    STORE_dst_AT(e, value);
  }
#else
  for (int e = first; e < last; ++e) {
    COORDINATES_OF_dst(e);
    TYPE_dst value = 0;
    if (INSIDE_dst) value = EPILOGUE(LOAD_src0(COORDINATES), COORDINATES);
    STORE_dst_AT(e, value);
  }
#endif
}
#undef BLOCK
