// SPDX-License-Identifier: Apache-2.0
//
// softmax.row_vectors: dst[m,l,n] = EPILOGUE(exp(src[m,l,n] - largest) / sum over l of exp(src[m,l,n] -
// largest)), or with LOG 1 src[m,l,n] - largest - log(that sum), for CPUs: rows along l lie together.
//
//   src, dst  MNL   (m*N + n)*L + l
//
//        row r = m*N + n
//        [ 16 numbers | 16 numbers | 16 numbers | 1 1 1 ]     a row is read three times, from the first-level
//                                               rest         cache after the first: for its largest number,
//                                                            for the exponentials and their sum, and for
//                                                            the quotients
//
// The exponentials wait in dst for their sum. What is left of a row, fewer than 16 numbers, is filled
// up to a vector with -INFINITY, whose exponential is 0. A work-group is one work-item, which takes
// neighbouring rows.
//
// Subtracting the largest element keeps exp() at 1 or below, so no row overflows; a NaN anywhere in a
// row makes the whole row NaN, since no number that is subtracted from it leaves another.
//
// Tunables: GROUPS, work-groups at most.
__kernel ATTRIBUTES void row_vectors(ARGUMENTS) {
  // Sixteen numbers that may start at any of them, where OpenCL's vectors start at whole vectors.
  typedef float sixteen __attribute__((ext_vector_type(16), aligned(4)));
  const int rows = M * N;
  const int begin = (ulong)rows * get_global_id(0) / get_global_size(0);
  const int end = (ulong)rows * (get_global_id(0) + 1) / get_global_size(0);
  const int whole = L / 16 * 16;
  for (int r = begin; r < end; ++r) {
    __global const float* from = src + (size_t)r * L;
    __global float* to = dst + (size_t)r * L;
    float rest[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) rest[i] = whole + i < L ? from[whole + i] : -INFINITY;
    const float16 last = vload16(0, rest);
    float16 highest = last;
    for (int l = 0; l < whole; l += 16) {
      const float16 value = *(__global const sixteen*)(from + l);
      highest = highest < value ? value : highest;
    }
    const float8 eight = highest.lo < highest.hi ? highest.hi : highest.lo;
    const float4 four = eight.lo < eight.hi ? eight.hi : eight.lo;
    const float largest = fmax(fmax(four.x, four.y), fmax(four.z, four.w));
    const float16 last_exp = exp(last - largest);
    float16 sums = last_exp;
    for (int l = 0; l < whole; l += 16) {
      const float16 value = exp(*(__global const sixteen*)(from + l) - largest);
#if !LOG
      *(__global sixteen*)(to + l) = value;
#endif
      sums += value;
    }
    const float8 eight_sums = sums.lo + sums.hi;
    const float4 four_sums = eight_sums.lo + eight_sums.hi;
    const float sum = (four_sums.x + four_sums.y) + (four_sums.z + four_sums.w);
    const int m = r / N;
    const int n = r % N;
#if LOG
    const float shift = log(sum);
    for (int l = 0; l < L; ++l) {
      const float result = from[l] - largest - shift;
      to[l] = EPILOGUE(result, m, l, n);
    }
#else
    const float share = 1.0f / sum;
    for (int l = 0; l < whole; ++l) {
      const float result = to[l] * share;
      to[l] = EPILOGUE(result, m, l, n);
    }
    vstore16(last_exp * share, 0, rest);
    for (int l = whole; l < L; ++l) to[l] = EPILOGUE(rest[l - whole], m, l, n);
#endif
  }
}
