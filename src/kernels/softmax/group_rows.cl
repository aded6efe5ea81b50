// SPDX-License-Identifier: Apache-2.0
//
// softmax.group_rows and softmax.short_rows: dst[m,l,n] = EPILOGUE(exp(src[m,l,n] - largest) / sum over l of
// exp(src[m,l,n] - largest)), or with LOG 1 src[m,l,n] - largest - log(that sum), for GPUs: rows along l lie
// together.
//
//   src, dst  MNL   (m*N + n)*L + l
//
//        row r = m*N + n
//        [ lane 0 | lane 1 | lane 2 ... | lane 0 | lane 1 | ... ]     LANES work-items walk along a row three
//        [ lane 0 | ...                                               times (largest, sum, result), so that
//                                                                    neighbours read neighbours; ROWS rows
//                                                                    are side by side
//
// What a row's work-items have found is combined in local memory, halving their number each time. A work-group
// goes on with the rows that are (number of work-groups) * ROWS further on.
//
// The two differ in their standard values: many work-items for a long row, few for a short one.
//
// Subtracting the largest element keeps exp() at 1 or below, so no row overflows; a NaN anywhere in a
// row makes the whole row NaN.
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
    __global const float* from = src + (size_t)min(r, rows - 1) * L;
    float largest = -INFINITY;
    for (int l = lane; l < L; l += LANES) largest = fmax(largest, from[l]);
    largest = most_of(parts, own, lane, largest);
    float sum = 0.0f;
    for (int l = lane; l < L; l += LANES) sum += exp(from[l] - largest);
    sum = total_of(parts, own, lane, sum);
    const int m = r / N;
    const int n = r % N;
#if LOG
    const float log_of_sum = log(sum);
#endif
    for (int l = lane; r < rows && l < L; l += LANES) {
      const float distance = from[l] - largest;
#if LOG
      const float result = distance - log_of_sum;
#else
      const float result = exp(distance) / sum;
#endif
      dst[(size_t)r * L + l] = EPILOGUE(result, m, l, n);
    }
  }
}
