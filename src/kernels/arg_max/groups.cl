// SPDX-License-Identifier: Apache-2.0
//
// arg_max.groups: dst[m,n] = EPILOGUE(the l of the largest src[m,l,n]), or with SMALLEST 1 of the smallest, for GPUs:
// few long rows.
//
//   src  MNL   (m*N + n)*L + l     dst(m, n)   through accessors
//
//        row r = m*N + n
//        [ lane 0 | lane 1 | lane 2 ... | lane 0 | lane 1 | ... ]     a work-group: one row. Each of its LANES work-items
//                                                                    keeps the best of what it walks past, UNROLL of
//                                                                    them under way. Then halves are compared, in
//                                                                    local memory, until one is left
//
// Of equal elements the first counts, or with LAST 1 the last. A NaN counts as beyond every number. A work-group goes on
// with the row that is (number of work-groups) further on.
//
// Tunables: LANES of a row (a power of 2), UNROLL.
#if SMALLEST
#define BETTER(a, b) ((a) < (b) || ((a) != (a) && (b) == (b)))
#else
#define BETTER(a, b) ((a) > (b) || ((a) != (a) && (b) == (b)))
#endif
#define EQUAL(a, b) ((a) == (b) || ((a) != (a) && (b) != (b)))
#if LAST
#define IS_AHEAD(l, other) ((l) > (other))
#else
#define IS_AHEAD(l, other) ((l) < (other))
#endif
#define REPLACES(value, l, best, place) (BETTER(value, best) || (EQUAL(value, best) && IS_AHEAD(l, place)))

__kernel ATTRIBUTES void groups(ARGUMENTS) {
  __local TYPE_src values[LANES];
  __local int places[LANES];
  const int lane = get_local_id(0);
  // The whole work-group goes round together, since it meets at barriers.
  for (int r = get_group_id(1); r < M * N; r += get_num_groups(1)) {
    const size_t row = (size_t)r * L;
    // Work-items without an element have the first one.
    int place = lane < L ? lane : 0;
    TYPE_src best = AT_src(row + place);
    int l = lane + LANES;
    for (; l + (UNROLL - 1) * LANES < L; l += UNROLL * LANES) {
      TYPE_src next[UNROLL];
#pragma unroll
      for (int i = 0; i < UNROLL; ++i) next[i] = AT_src(row + l + i * LANES);
#pragma unroll
      for (int i = 0; i < UNROLL; ++i) {
        const int wins = REPLACES(next[i], l + i * LANES, best, place);
        best = wins ? next[i] : best;
        place = wins ? l + i * LANES : place;
      }
    }
    for (; l < L; l += LANES) {
      const TYPE_src value = AT_src(row + l);
      const int wins = REPLACES(value, l, best, place);
      best = wins ? value : best;
      place = wins ? l : place;
    }
    values[lane] = best;
    places[lane] = place;
    for (int half_lanes = LANES / 2; half_lanes > 0; half_lanes /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      const int other = min(lane + half_lanes, LANES - 1);
      if (lane < half_lanes && REPLACES(values[other], places[other], values[lane], places[lane])) {
        values[lane] = values[other];
        places[lane] = places[other];
      }
    }
    if (lane == 0) {
      const int m = r / N;
      const int n = r % N;
      const TYPE_acc result = places[0];
      STORE_dst(m, n, EPILOGUE(result, m, n));
    }
    // The next row's may only come when these have been read.
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
#undef BETTER
#undef EQUAL
#undef IS_AHEAD
#undef REPLACES
