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
// A view that allows no sum (see pack.runs) is read one element at a time. Work-items are spread over two
// dimensions of 32,768 at most.
//
// Tunables: WIDTH; LOCAL, work-items of a work-group.
// Assumes: elements_dst, padding included, is countable in 31 bits.
#define LENGTH (RUN_LENGTH_dst < WIDTH ? RUN_LENGTH_dst : WIDTH)

__kernel ATTRIBUTES void pack_short_runs(ARGUMENTS) {
  const int runs = (LOOP_dst + LENGTH - 1) / LENGTH;
  const int units = elements_dst / LOOP_dst * runs;
  TABLES_src
  const int items = get_global_size(0) * get_global_size(1);
  for (int unit = get_global_id(1) * get_global_size(0) + get_global_id(0); unit < units; unit += items) {
    const int column = unit % runs * LENGTH;
    const int e = unit / runs * LOOP_dst + column;
    const int length = min(LENGTH, LOOP_dst - column);
    COORDINATES_OF_dst(e);
#pragma unroll
    for (int i = 0; i < LENGTH; ++i) {
      FILL_src(i, RUN_START_dst)
    }
    BEGIN_src
    const int is_data = INSIDE_dst;
#pragma unroll
    for (int i = 0; i < LENGTH; ++i) {
      const int wanted = is_data && i < length && INSIDE_ALONG_dst(i);
      const int found = wanted && INSIDE_ALONG_src(i);
      // The first element stands in for those that are not there, so that nothing need branch.
      const TYPE_dst value = src[found ? INDEX_ALONG_src(i) : 0];
      if (i < length) STORE_dst_AT(e + i, found ? value : wanted ? (TYPE_dst)OUTSIDE_src : (TYPE_dst)0);
    }
  }
}
#undef LENGTH
