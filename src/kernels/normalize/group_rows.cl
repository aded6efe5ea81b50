// SPDX-License-Identifier: Apache-2.0
//
// normalize.group_rows and normalize.short_rows: dst[m,l,n] = EPILOGUE((src[m,l,n] - mean) / size), all along l, for
// GPUs: rows along l lie together. With KIND 0 the mean and sqrt(variance + e), with KIND 1 nothing and the sum of
// |src|, with KIND 2 nothing and the root of the sum of squares.
//
//   src, dst  MNL   (m*N + n)*L + l
//
//        row r = m*N + n
//        [ lane 0 | lane 1 | lane 2 ... | lane 0 | lane 1 | ... ]     LANES work-items walk along a row three
//        [ lane 0 | ...                                               times (sum, squares of the distances from
//                                                                    the mean, result), so that neighbours read
//                                                                    neighbours; ROWS rows are side by side
//
// The sums of a row's work-items are added up in local memory, halving their number each time. A work-group goes on
// with the rows that are (number of work-groups) * ROWS further on.
//
// The two differ in their standard values: many work-items for a long row, few for a short one.
//
// The variance is the mean square of the distances from the mean, so that a mean far from zero
// costs no digits. e is what the bits in EPSILON say.
//
// Tunables: LANES of a row (a power of 2), ROWS of a work-group.
__kernel ATTRIBUTES void group_rows(ARGUMENTS) {
  __local float parts[ROWS][LANES];
  const int lane = get_local_id(0);
  const int own = get_local_id(1);
  const int rows = M * N;
  // The whole work-group goes round together, since it meets at barriers.
  for (int first = get_group_id(1) * ROWS; first < rows; first += get_num_groups(1) * ROWS) {
    const int r = first + own;
    // Work-items without a row work on the last one and store nothing.
    const size_t from = (size_t)min(r, rows - 1) * L;
    float mean = 0.0f;
#if KIND == 0
    float part = 0.0f;
    for (int l = lane; l < L; l += LANES) part += AT_src(from + l);
    mean = total_of(parts, own, lane, part) / (float)L;
#endif
    float sum = 0.0f;
    for (int l = lane; l < L; l += LANES) {
      const float distance = AT_src(from + l) - mean;
      sum += TERM(distance);
    }
    sum = total_of(parts, own, lane, sum);
#if KIND == 0
    const float size = sqrt(sum / (float)L + as_float(EPSILON));
#elif KIND == 1
    const float size = sum == 0.0f ? 1.0f : sum;
#else
    const float size = sum == 0.0f ? 1.0f : sqrt(sum);
#endif
    const int m = r / N;
    const int n = r % N;
    for (int l = lane; r < rows && l < L; l += LANES) {
      const float result = (AT_src(from + l) - mean) / size;
      PUT_dst((size_t)r * L + l, EPILOGUE(result, m, l, n));
    }
  }
}
