// SPDX-License-Identifier: Apache-2.0
//
// pack.walk: dst[d0, d1, ...] = src[d0, d1, ...], from any arrangement and through any view to rows in any
// order, for GPUs with memory of their own.
//
//   src(d0, d1, ...), dst(d0, d1, ...)   as in pack.runs
//
//        dst   [ item 0  ][ item 8  ][ item 16 ] ...    a work-item writes WIDTH neighbours of a line, which is
//              [ item 1  ][ item 9  ][ item 17 ] ...    dst's innermost loop; the work-items beside it write those
//                ...                                    of the next LINES - 1 lines
//              [ item 7  ][ item 15 ][ item 23 ] ...
//
// A GPU's cache moves 32 bytes or more at a time. So eight work-items should read neighbours where dst lies
// across src, and a work-item eight neighbours where it lies along.
//
// The columns of a convolution lie at places with four or five quotients and as many remainders, and a GPU
// divides with two dozen instructions. pack.short_runs divides for each element of a run. Here a work-item
// divides for its first element alone. From one to the next it counts, in digits: of (n, oh, ow) the last goes up,
// and at its end the one before it.
//
// Four neighbours that begin at a multiple of four are stored at once, as in pack.short_runs. Where places are no
// sums of digits, each is worked out from its element's number.
//
// Tunables: WIDTH; LINES; LOCAL, work-items of a work-group.
// Assumes: elements_dst, padding included, is countable in 31 bits.
__kernel ATTRIBUTES void pack_walk(ARGUMENTS) {
  TYPE_dst values[WIDTH];
#if WALK_dst
  const uint runs = (WALK_LENGTH + WIDTH - 1) / WIDTH;
  const uint lines = elements_dst / WALK_LENGTH;
  const uint units = (lines + LINES - 1) / LINES * (LINES * runs);
  WALK_DECLARE
#else
  const uint units = (elements_dst + WIDTH - 1) / WIDTH;
#endif
  const uint items = get_global_size(0) * get_global_size(1);
  for (uint unit = get_global_id(1) * get_global_size(0) + get_global_id(0); unit < units; unit += items) {
#if WALK_dst
    const uint of_band = unit % (LINES * runs);
    const uint line = unit / (LINES * runs) * LINES + of_band % LINES;
    const uint column = of_band / LINES * WIDTH;
    if (line >= lines) continue;
    const uint first = line * WALK_LENGTH + column;
    const int length = min(WIDTH, (int)(WALK_LENGTH - column));
    WALK_START(line, column)
#pragma unroll
    for (int i = 0; i < WIDTH; ++i) {
      const int wanted = i < length && WALK_INSIDE;
      const int found = wanted && WALK_FOUND_src;
      // The first element stands in for those that are not there, so that nothing need branch.
      const TYPE_dst value = src[(uint)(found ? WALK_PLACE_src : 0)];
      values[i] = found ? value : wanted ? (TYPE_dst)WALK_OUTSIDE_src : (TYPE_dst)0;
      WALK_NEXT
    }
#else
    const uint first = unit * WIDTH;
    const int length = min(WIDTH, (int)(elements_dst - first));
#pragma unroll
    for (int i = 0; i < WIDTH; ++i) {
      values[i] = 0;
      if (i >= length) continue;
      COORDINATES_OF_dst(first + i);
      if (INSIDE_dst) values[i] = LOAD_src(COORDINATES);
    }
#endif
    int stored = 0;
#ifdef STORE4_dst_AT
    if (length == WIDTH && first % 4 == 0) {
#pragma unroll
      for (int i = 0; i + 4 <= WIDTH; i += 4) {
        STORE4_dst_AT(first + i, (float4)(values[i], values[i + 1], values[i + 2], values[i + 3]));
      }
      stored = WIDTH / 4 * 4;
    }
#endif
#pragma unroll
    for (int i = 0; i < WIDTH; ++i) {
      if (i >= stored && i < length) STORE_dst_AT(first + i, values[i]);
    }
  }
}
