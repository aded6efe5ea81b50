// SPDX-License-Identifier: Apache-2.0
//
// pack.short_runs: dst[d0, d1, ...] = src[d0, d1, ...], from any arrangement and through any view to any
// arrangement, for GPUs.
//
//   src(d0, d1, ...), dst(d0, d1, ...)   as in pack.runs
//
//        dst   [ item 0  ][ item 1  ][ item 2  ] ...    a work-item writes WIDTH neighbours of dst's innermost
//               e .. e+7   e+8 ..                        loop, whose place in src it works out once
//
// pack.generic works out a place for each element, a dozen divisions: of an operand that is rounded to 16 bits
// into cells of 8 x 8 that took five times as long as reading and writing it. pack.runs does less, but keeps
// tables that a GPU has no registers for, and leaves it too few work-items. Here a table has WIDTH entries, which
// the compiler turns into constants and additions.
//
// Four neighbours that begin at a multiple of four are stored at once, where their type allows it: one by one
// they took an H200 twice as long, since the work-items beside it write WIDTH elements away.
//
// A view that allows no sum (see pack.runs) is read one element at a time. Work-items are spread over two
// dimensions of 32,768 at most.
//
// Tunables: WIDTH; LOCAL, work-items of a work-group.
// Assumes: elements_dst, padding included, is countable in 31 bits.
#define LENGTH (RUN_LENGTH_dst < WIDTH ? RUN_LENGTH_dst : WIDTH)

__kernel ATTRIBUTES void pack_short_runs(ARGUMENTS) {
  const uint runs = (LOOP_dst + LENGTH - 1) / LENGTH;
  const uint units = elements_dst / LOOP_dst * runs;
  TABLES_src
  const uint items = get_global_size(0) * get_global_size(1);
  for (uint unit = get_global_id(1) * get_global_size(0) + get_global_id(0); unit < units; unit += items) {
    // Without a sign they are divided by fewer instructions.
    const uint column = unit % runs * LENGTH;
    const uint e = unit / runs * LOOP_dst + column;
    const int length = min(LENGTH, (int)(LOOP_dst - column));
    COORDINATES_OF_dst(e);
#pragma unroll
    for (int i = 0; i < LENGTH; ++i) {
      FILL_src(i, RUN_START_dst)
    }
    BEGIN_src
    const int is_data = INSIDE_dst;
    TYPE_dst values[LENGTH];
#pragma unroll
    for (int i = 0; i < LENGTH; ++i) {
      const int wanted = is_data && i < length && INSIDE_ALONG_dst(i);
      const int found = wanted && INSIDE_ALONG_src(i);
      // The first element stands in for those that are not there, so that nothing need branch.
      const TYPE_dst value = src[(uint)(found ? INDEX_ALONG_src(i) : 0)];
      values[i] = found ? value : wanted ? (TYPE_dst)OUTSIDE_src : (TYPE_dst)0;
    }
    int stored = 0;
#ifdef STORE4_dst_AT
    if (length == LENGTH && e % 4 == 0) {
#pragma unroll
      for (int i = 0; i + 4 <= LENGTH; i += 4) {
        STORE4_dst_AT(e + i, (float4)(values[i], values[i + 1], values[i + 2], values[i + 3]));
      }
      stored = LENGTH / 4 * 4;
    }
#endif
#pragma unroll
    for (int i = 0; i < LENGTH; ++i) {
      if (i >= stored && i < length) STORE_dst_AT(e + i, values[i]);
    }
  }
}
#undef LENGTH
