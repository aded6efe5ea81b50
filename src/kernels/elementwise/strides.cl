// SPDX-License-Identifier: Apache-2.0
//
// elementwise.strides: as chain, for GPUs with memory of their own.
//
//   src0(d0, d1, ...), dst(d0, d1, ...)   through accessors
//
//        steps            [0 1 .. LOCAL-1 | 0 1 .. LOCAL-1 | ... ]     a work-group: EACH * LOCAL elements; a work-item:
//                          ^ item 0         ^ item 0                   EACH of them, LOCAL apart
//        lines of dst     [ item 0 | item 1 | .. ]                     a work-item: EACH neighbours of a line, the
//                         [ item k | ...                               innermost loop of dst's layout
//
// A GPU starts about one work-group in a cycle. With one element for each work-item that took an H200 five times as long
// as memory needs. All loads of a work-item are under way before the first result is stored.
//
// Where all operands lie alike, or are one number, an element has the same number in each of them: no coordinates need
// be worked out. Else a work-item divides for the place of its first element and for a step of LOCAL elements, with two
// dozen instructions a quotient. From each of its elements to the next it adds the step's digits, with carries. Where an
// operand has tiles it goes along a line, on which places are sums.
//
// Tunables: EACH, elements of a work-item; LOCAL, work-items of a work-group.
// Assumes: elements_dst, padding included, is countable in 31 bits.
__kernel ATTRIBUTES void strides(ARGUMENTS) {
  TYPE_dst values[EACH];
#if WALK_dst
  const uint group = get_group_id(1) * get_num_groups(0) + get_group_id(0);
  const uint first = group * (LOCAL * EACH) + get_local_id(0);
  WALK_DECLARE(LOCAL)
  WALK_START(first)
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    values[i] = 0;
    if (first + i * LOCAL < (uint)elements_dst && WALK_INSIDE) values[i] = WALK_EPILOGUE(WALK_LOAD_src0);
    WALK_STEP
  }
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    if (first + i * LOCAL < (uint)elements_dst) STORE_dst_AT(first + i * LOCAL, values[i]);
  }
#elif NEST_dst && !ALIKE_dst
  const uint runs = (NEST_LENGTH + EACH - 1) / EACH;
  const uint units = NEST_LINES * runs;
  const uint items = get_global_size(0) * get_global_size(1);
  for (uint unit = get_global_id(1) * get_global_size(0) + get_global_id(0); unit < units; unit += items) {
    const int of_unit = unit / runs;
    const int start = unit % runs * EACH;
    NEST_EACH_LINE(line, of_unit, of_unit + 1) {
      const int data = NEST_DATA;
#pragma unroll
      for (int i = 0; i < EACH; ++i) {
        values[i] = 0;
        if (start + i < data) values[i] = NEST_EPILOGUE(NEST_LOAD_src0(start + i), start + i);
      }
      const uint e = line * NEST_LENGTH + start;
      const int length = min(EACH, NEST_LENGTH - start);
      int stored = 0;
#ifdef STORE4_dst_AT
      // Four neighbours at an aligned place are one store.
      if (length == EACH && e % 4 == 0) {
#pragma unroll
        for (int i = 0; i + 4 <= EACH; i += 4) {
          STORE4_dst_AT(e + i, (float4)(values[i], values[i + 1], values[i + 2], values[i + 3]));
        }
        stored = EACH / 4 * 4;
      }
#endif
#pragma unroll
      for (int i = 0; i < EACH; ++i) {
        if (i >= stored && i < length) STORE_dst_AT(e + i, values[i]);
      }
    }
  }
#else
  const uint group = get_group_id(1) * get_num_groups(0) + get_group_id(0);
  const uint first = group * (LOCAL * EACH) + get_local_id(0);
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    const uint e = first + i * LOCAL;
    values[i] = 0;
    if (e >= (uint)elements_dst) continue;
#if ALIKE_dst
    values[i] = EPILOGUE_AT(LOAD_src0_AT(e), e);
#else
    COORDINATES_OF_dst(e);
    if (INSIDE_dst) values[i] = EPILOGUE(LOAD_src0(COORDINATES), COORDINATES);
#endif
  }
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    const uint e = first + i * LOCAL;
    if (e < (uint)elements_dst) STORE_dst_AT(e, values[i]);
  }
#endif
}
