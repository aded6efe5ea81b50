// SPDX-License-Identifier: Apache-2.0
//
// normalize.row_vectors: dst[m,l,n] = EPILOGUE((src[m,l,n] - mean) / size), all along l, for CPUs: rows along l
// lie together. With KIND 0 the mean and sqrt(variance + e), with KIND 1 nothing and the sum of |src|, with KIND 2
// nothing and the root of the sum of squares.
//
//   src, dst  MNL   (m*N + n)*L + l
//
//        row r = m*N + n
//        [ 16 numbers | 16 numbers | 16 numbers | 16 numbers | 16 numbers | ... | 1 1 1 ]
//            sums 0       sums 1       sums 2       sums 3       sums 0           rest
//
// A row is read three times (sum, squares of the distances from the mean, result), or twice where there is no mean,
// from a cache after the first. Four vectors of sums are under way, so that no addition waits for the one before
// it. A work-group is one work-item, which takes neighbouring rows.
//
// The variance is the mean square of the distances from the mean, so that a mean far from zero
// costs no digits. e is what the bits in EPSILON say.
//
// Tunables: GROUPS, work-groups at most.
#if KIND == 1
#define TERM(v) fabs(v)
#else
#define TERM(v) ((v) * (v))
#endif

__kernel ATTRIBUTES void row_vectors(ARGUMENTS) {
  // Sixteen numbers that may start at any of them, where OpenCL's vectors start at whole vectors.
  typedef float sixteen __attribute__((ext_vector_type(16), aligned(4)));
  const int rows = M * N;
  const int begin = (ulong)rows * get_global_id(0) / get_global_size(0);
  const int end = (ulong)rows * (get_global_id(0) + 1) / get_global_size(0);
  for (int r = begin; r < end; ++r) {
    __global const float* from = src + (size_t)r * L;
    __global float* to = dst + (size_t)r * L;
    float mean = 0.0f;
    float sum = 0.0f;
    // The first pass finds the mean, the second what distances from it come to.
#pragma unroll
    for (int pass = KIND == 0 ? 0 : 1; pass < 2; ++pass) {
      float16 sums[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) sums[i] = 0.0f;
      int l = 0;
      for (; l + 64 <= L; l += 64) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float16 value = *(__global const sixteen*)(from + l + 16 * i);
          const float16 distance = value - mean;
          sums[i] += pass == 0 ? value : TERM(distance);
        }
      }
      for (; l + 16 <= L; l += 16) {
        const float16 value = *(__global const sixteen*)(from + l);
        const float16 distance = value - mean;
        sums[0] += pass == 0 ? value : TERM(distance);
      }
      const float16 all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
      const float8 eight = all.lo + all.hi;
      const float4 four = eight.lo + eight.hi;
      sum = (four.x + four.y) + (four.z + four.w);
      for (; l < L; ++l) {
        const float distance = from[l] - mean;
        sum += pass == 0 ? from[l] : TERM(distance);
      }
      if (pass == 0) mean = sum / (float)L;
    }
#if KIND == 0
    const float scale = 1.0f / sqrt(sum / (float)L + as_float(EPSILON));
#elif KIND == 1
    const float scale = sum == 0.0f ? 1.0f : 1.0f / sum;
#else
    const float scale = sum == 0.0f ? 1.0f : 1.0f / sqrt(sum);
#endif
    const int m = r / N;
    const int n = r % N;
    for (int l = 0; l < L; ++l) {
      const float result = (from[l] - mean) * scale;
      to[l] = EPILOGUE(result, m, l, n);
    }
  }
}
#undef TERM
