// SPDX-License-Identifier: Apache-2.0
//
// pack.runs: dst[d0, d1, ...] = src[d0, d1, ...], from any arrangement and through any view to any
// arrangement, for CPUs.
//
//   src(d0, d1, ...), dst(d0, d1, ...)   through tables, see below
//
//   One element's place in src costs a dozen divisions, one for each loop of dst and each dimension that
//   the view joins. So a work-item writes dst in runs, along its innermost loop. Of im2col into panels:
//
//        dst   panel 0   k=0  [p p p p p p p p]     a run: k is fixed, p goes up by one. The place in src
//                        k=1  [p p p p p p p p]     is a sum: what p adds to it stands in a table, what k
//                        k=2  [p p p p p p p p]     adds is worked out once for the whole run
//              panel 1   k=0  [q q q q q q q q]
//                         .                         the next run, one iteration of the loops outside the
//                                                   innermost one further, has the same p as a rule, and
//        work-item: LOOPS such runs                 so the table is kept until p changes
//
// Where that table would hold equal steps, and nothing lies outside of src, there is none: the places along dst's
// innermost loop are a sum, which a compiler makes vectors of. Where that loop is short, as that of the 4 channels of
// a picture, STRETCH iterations of the loop around it are read channel by channel, then written:
//
//        src   [r r r r ...]      dst   [r g b 0][r g b 0][r g b 0] ...
//              [g g g g ...]  -->
//              [b b b b ...]
//
// A view that allows no such sum is read in runs of one element: as dear as pack.generic, and right.
//
// Tunables: LOOPS, runs of a work-item, one below the other; CHUNK, elements for each work-item as long
// as the device has any left (a work-item takes several units when there are more).
// Assumes: elements_dst, padding included, is countable in 31 bits.
#define STRETCH 32

__kernel ATTRIBUTES void pack_runs(ARGUMENTS) {
#if NEST_dst && NEST_SHORT
  const int item = (int)get_global_id(0);
  const int items = (int)get_global_size(0);
  MOVED values[NEST_LENGTH][STRETCH];
  NEST_EACH_UNIT(line, share(NEST_LINES, item, items), share(NEST_LINES, item + 1, items)) {
    const int is_stretch = line + STRETCH <= nest_end;
    // From line to line of a unit data can only become less.
    int inside = 0;
    int least = 0;
    NEST_AT_LINE(line) inside = NEST_DATA;
    if (is_stretch) NEST_AT_LINE(line + STRETCH - 1) least = NEST_DATA;
    const int start = line * NEST_LENGTH;
    if (is_stretch && least == inside) {
#pragma unroll
      for (int i = 0; i < NEST_LENGTH; ++i) {
        if (i < inside) {
          for (int s = 0; s < STRETCH; ++s) NEST_AT_LINE(line + s) values[i][s] = TAKE_src(NEST_PLACE_src(i));
        } else {
          for (int s = 0; s < STRETCH; ++s) values[i][s] = (MOVED)0;
        }
      }
      for (int s = 0; s < STRETCH; ++s) {
#pragma unroll
        for (int i = 0; i < NEST_LENGTH; ++i) GIVE_dst(start + s * NEST_LENGTH + i, values[i][s]);
      }
      line += STRETCH;
    } else {
      NEST_AT_LINE(line) {
        for (int i = 0; i < inside; ++i) GIVE_dst(start + i, TAKE_src(NEST_PLACE_src(i)));
      }
      for (int i = inside; i < NEST_LENGTH; ++i) GIVE_dst(start + i, (MOVED)0);
      ++line;
    }
  }
#elif NEST_dst
  const int item = (int)get_global_id(0);
  const int items = (int)get_global_size(0);
  NEST_EACH_LINE(line, share(NEST_LINES, item, items), share(NEST_LINES, item + 1, items)) {
    const int start = line * NEST_LENGTH;
    const int inside = NEST_DATA;
    for (int i = 0; i < inside; ++i) GIVE_dst(start + i, TAKE_src(NEST_PLACE_src(i)));
    for (int i = inside; i < NEST_LENGTH; ++i) GIVE_dst(start + i, (MOVED)0);
  }
#else
  const int runs = (LOOP_dst + RUN_LENGTH_dst - 1) / RUN_LENGTH_dst;
  const int loops = elements_dst / LOOP_dst;
  const int units = (loops + LOOPS - 1) / LOOPS * runs;
  TABLES_src
  for (int unit = get_global_id(0); unit < units; unit += get_global_size(0)) {
    const int column = unit % runs * RUN_LENGTH_dst;
    const int first = unit / runs * LOOPS;
    const int last = min(first + LOOPS, loops);
    const int length = min(RUN_LENGTH_dst, LOOP_dst - column);
    int table_start = -1;
    for (int loop = first; loop < last; ++loop) {
      const int e = loop * LOOP_dst + column;
      COORDINATES_OF_dst(e);
      if (RUN_START_dst != table_start) {
        table_start = RUN_START_dst;
        for (int i = 0; i < length; ++i) {
          FILL_src(i, table_start)
        }
      }
      BEGIN_src
      const int is_data = INSIDE_dst;
      for (int i = 0; i < length; ++i) {
        const int wanted = is_data && INSIDE_ALONG_dst(i);
        const int found = wanted && INSIDE_ALONG_src(i);
        // The first element stands in for those that are not there, so that nothing need branch.
        const MOVED value = TAKE_src(found ? INDEX_ALONG_src(i) : 0);
        GIVE_dst(e + i, found ? value : wanted ? (MOVED)OUTSIDE_src : (MOVED)0);
      }
    }
  }
#endif
}
#undef STRETCH
