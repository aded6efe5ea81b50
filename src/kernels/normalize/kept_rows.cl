// SPDX-License-Identifier: Apache-2.0
//
// normalize.kept_rows: dst[m,l,n] = EPILOGUE((src[m,l,n] - mean) / size), all along l, for GPUs with many registers: rows
// along l lie together, and are read once. With KIND 0 the mean and sqrt(variance + e), with KIND 1 nothing and the sum of
// |src|, with KIND 2 nothing and the root of the sum of squares.
//
//   src, dst  MNL   (m*N + n)*L + l
//
//        row r = m*N + n
//        [ lane 0 | lane 1 | ... | lane 31 | lane 0 | lane 1 | ... ]     LANES work-items have a row, each KEPT of its
//             |        |                        |                       numbers at most, in registers, from the first
//             kept 0   kept 0                   kept 1                  pass to the last
//
// All loads of a row are under way at once. normalize.short_rows reads a row three times, and each pass waits for memory.
// The sums of a row's work-items pass through local memory: each puts its own there, and adds up all of them. So a
// sum takes two barriers where halving takes seven.
//
// The variance is the mean square of the distances from the mean, so that a mean far from zero costs no digits. e is
// what the bits in EPSILON say.
//
// Tunables: LANES of a row (a multiple of 4), KEPT, ROWS of a work-group.
// Assumes: L <= LANES*KEPT.

__kernel ATTRIBUTES void kept_rows(ARGUMENTS) {
  __local float4 parts[ROWS][LANES / 4];
  const int lane = get_local_id(0);
  __local float4* own = parts[get_local_id(1)];
  const int rows = M * N;
  // The whole work-group goes round together, since it meets at barriers.
  for (int first = get_group_id(1) * ROWS; first < rows; first += get_num_groups(1) * ROWS) {
    const int r = first + (int)get_local_id(1);
    // Work-items without a row work on the last one and store nothing.
    const size_t from = (size_t)min(r, rows - 1) * L;
    float kept[KEPT];
#pragma unroll
    for (int i = 0; i < KEPT; ++i) {
      const int l = lane + i * LANES;
      const float value = AT_src(from + min(l, L - 1));
      kept[i] = l < L ? value : 0.0f;
    }
#if KIND == 0
    float part = 0.0f;
#pragma unroll
    for (int i = 0; i < KEPT; ++i) part += kept[i];
    const float mean = row_total(own, lane, part) / (float)L;
#pragma unroll
    for (int i = 0; i < KEPT; ++i) kept[i] = lane + i * LANES < L ? kept[i] - mean : 0.0f;
#endif
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < KEPT; ++i) sum += TERM(kept[i]);
    sum = row_total(own, lane, sum);
#if KIND == 0
    const float scale = 1.0f / sqrt(sum / (float)L + as_float(EPSILON));
#elif KIND == 1
    // No reciprocal: that of a subnormal number is infinite.
    const float size = sum == 0.0f ? 1.0f : sum;
#else
    const float scale = sum == 0.0f ? 1.0f : 1.0f / sqrt(sum);
#endif
    const int m = min(r, rows - 1) / N;
    const int n = min(r, rows - 1) % N;
    // What the epilogue reads is under way at once too, so no branch lies between.
#pragma unroll
    for (int i = 0; i < KEPT; ++i) {
#if KIND == 1
      const float result = kept[i] / size;
#else
      const float result = kept[i] * scale;
#endif
      kept[i] = EPILOGUE(result, m, min(lane + i * LANES, L - 1), n);
    }
#pragma unroll
    for (int i = 0; i < KEPT; ++i) {
      const int l = lane + i * LANES;
      if (r < rows && l < L) PUT_dst((size_t)r * L + l, kept[i]);
    }
  }
}
