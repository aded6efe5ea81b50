// SPDX-License-Identifier: Apache-2.0
//
// normalize.row_vectors: dst[m,l,n] = EPILOGUE((src[m,l,n] - mean) / size), all along l, for CPUs: rows along l
// lie together. With KIND 0 the mean and sqrt(variance + e), with KIND 1 nothing and the sum of |src|, with KIND 2
// nothing and the root of the sum of squares.
//
//   src, dst  MNL   (m*N + n)*L + l
//
//        row r = m*N + n
//        [ L numbers | L numbers | L numbers | L numbers | L numbers | ... | 1 1 1 ]
//            sums 0      sums 1      sums 2      sums 3      sums 0          rest
//
// A row is read three times (sum, squares of the distances from the mean, result), or twice where there is no mean,
// from a cache after the first. Four vectors of sums are under way, so that no addition waits for the one before
// it. A work-group is one work-item, which takes neighbouring rows.
//
// The variance is the mean square of the distances from the mean, so that a mean far from zero
// costs no digits. e is what the bits in EPSILON say.
//
// Tunables: LANES, the L above: floats of a vector; GROUPS, work-groups for each compute unit at most.
__kernel ATTRIBUTES void row_vectors(ARGUMENTS) {
  const int rows = M * N;
  const int begin = share(rows, get_global_id(0), get_global_size(0));
  const int end = share(rows, get_global_id(0) + 1, get_global_size(0));
  for (int r = begin; r < end; ++r) {
    __global const MEMORY_src* from = src + (size_t)r * L;
    __global MEMORY_dst* to = dst + (size_t)r * L;
    float mean = 0.0f;
    float sum = 0.0f;
    // The first pass finds the mean, the second what distances from it come to.
#pragma unroll
    for (int pass = KIND == 0 ? 0 : 1; pass < 2; ++pass) {
      vector sums[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) sums[i] = 0.0f;
      int l = 0;
      for (; l + 4 * LANES <= L; l += 4 * LANES) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const vector value = vector_at(from + l + LANES * i);
          const vector distance = value - mean;
          sums[i] += pass == 0 ? value : TERM(distance);
        }
      }
      for (; l + LANES <= L; l += LANES) {
        const vector value = vector_at(from + l);
        const vector distance = value - mean;
        sums[0] += pass == 0 ? value : TERM(distance);
      }
      sum = sum_of((sums[0] + sums[1]) + (sums[2] + sums[3]));
      for (; l < L; ++l) {
        const float value = number_at(from + l);
        const float distance = value - mean;
        sum += pass == 0 ? value : TERM(distance);
      }
      if (pass == 0) mean = sum / (float)L;
    }
#if KIND == 0
    const float scale = 1.0f / sqrt(sum / (float)L + as_float(EPSILON));
#elif KIND == 1
    // No reciprocal: that of a subnormal number is infinite.
    const float size = sum == 0.0f ? 1.0f : sum;
#else
    const float scale = sum == 0.0f ? 1.0f : 1.0f / sqrt(sum);
#endif
    const int m = r / N;
    const int n = r % N;
    for (int l = 0; l < L; ++l) {
#if KIND == 1
      const float result = number_at(from + l) / size;
#else
      const float result = (number_at(from + l) - mean) * scale;
#endif
      put_number(to + l, EPILOGUE(result, m, l, n));
    }
  }
}
