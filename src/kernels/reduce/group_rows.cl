// SPDX-License-Identifier: Apache-2.0
//
// reduce.group_rows and reduce.short_rows: dst[p,m,n] = EPILOGUE(FINISHED(MAPPED(src[m,l,n]) of all l of part
// p, COMBINED)), for GPUs: what is combined lies together.
//
//   src  MNL   (m*N + n)*L + l
//   dst  PMN   (p*M + m)*N + n
//
//        row r = m*N + n of src
//        [ lane 0 | lane 1 | lane 2 ... | lane 0 | lane 1 | ... ]     LANES work-items walk along a row, so
//        [ lane 0 | ...                                               that neighbours read neighbours;
//                                                                    ROWS rows are side by side
//
// Each work-item has UNROLL numbers under way. In the end the totals of a row's work-items are combined in
// local memory, halving their number each time. A work-group goes on with the rows that are
// (number of work-groups) * ROWS further on.
//
// The two differ in their standard values: many work-items for a long row, few for a short one.
//
// MAPPED, COMBINED, START and FINISHED are what the problem's structure says (MAP, COMBINE, MEAN).
//
// Tunables: LANES of a row (a power of 2), ROWS of a work-group, UNROLL.
__kernel ATTRIBUTES void group_rows(ARGUMENTS) {
  __local TYPE_acc parts[ROWS][LANES];
  const int lane = get_local_id(0);
  const int own = get_local_id(1);
  const int rows = M * N;
  const int units = P * rows;
  // The whole work-group goes round together, since it meets at barriers.
  for (int first = get_group_id(1) * ROWS; first < units; first += get_num_groups(1) * ROWS) {
    const int unit = first + own;
    TYPE_acc total = START;
    if (unit < units) {
      const int p = unit / rows;
      const int length = min(DEPTH, L - p * DEPTH);
      __global const TYPE_src* row = src + (size_t)(unit % rows) * L + p * DEPTH;
      int l = lane;
      for (; l + (UNROLL - 1) * LANES < length; l += UNROLL * LANES) {
        TYPE_acc values[UNROLL];
#pragma unroll
        for (int i = 0; i < UNROLL; ++i) values[i] = row[l + i * LANES];
#pragma unroll
        for (int i = 0; i < UNROLL; ++i) {
          const TYPE_acc mapped = MAPPED(values[i]);
          total = COMBINED(total, mapped);
        }
      }
      for (; l < length; l += LANES) {
        const TYPE_acc value = row[l];
        const TYPE_acc mapped = MAPPED(value);
        total = COMBINED(total, mapped);
      }
    }
    parts[own][lane] = total;
    for (int half_lanes = LANES / 2; half_lanes > 0; half_lanes /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      if (lane < half_lanes) {
        parts[own][lane] = COMBINED(parts[own][lane], parts[own][lane + half_lanes]);
      }
    }
    if (lane == 0 && unit < units) {
      const int r = unit % rows;
      const TYPE_acc result = FINISHED(parts[own][0]);
      PUT_dst(unit, EPILOGUE(result, unit / rows, r / N, r % N));
    }
    // The next rows' totals may only come when these have been read.
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
