// SPDX-License-Identifier: Apache-2.0
//
// elementwise.ranges: as chain, for CPUs.
//
//   src0(d0, d1, ...), dst(d0, d1, ...)   through accessors
//
//        memory of dst    [e0 e1 e2 ...... | e1024 ...... | ...]      one work-item: a range of dst
//
// Where all operands lie alike, or are one number, an element has the same number in each of them: no
// coordinates need be worked out. Else dst is written line by line, a line being the innermost loop of its
// layout. The places of the operands along it are sums:
//
//        dst NCHW16c   unit: n, c, h   line: w   [c0 c1 ... c15]    side1(c): the same 16 numbers for each w
//
// A block is computed before any of it is stored: dst may be the memory of an operand, and only so can a
// compiler make vectors of the loop.
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
#elif NEST_dst
  TYPE_dst values[NEST_BLOCK];
  NEST_EACH_LINE(line, share(NEST_LINES, item, items), share(NEST_LINES, item + 1, items)) {
    const int e = line * NEST_LENGTH;
    const int inside = NEST_DATA;
    int start = 0;
    for (; start + NEST_BLOCK <= inside; start += NEST_BLOCK) {
      for (int i = 0; i < NEST_BLOCK; ++i) {
        values[i] = NEST_EPILOGUE(NEST_LOAD_src0(start + i), start + i);
      }
      for (int i = 0; i < NEST_BLOCK; ++i) STORE_dst_AT(e + start + i, values[i]);
    }
    for (int i = start; i < inside; ++i) {
      const TYPE_dst value = NEST_EPILOGUE(NEST_LOAD_src0(i), i);
      STORE_dst_AT(e + i, value);
    }
    for (int i = inside; i < NEST_LENGTH; ++i) STORE_dst_AT(e + i, (TYPE_dst)0);
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
