// SPDX-License-Identifier: Apache-2.0
//
// softmax.columns: dst[m,l,n] = EPILOGUE(exp(src[m,l,n] - largest) / sum over l of exp(src[m,l,n] - largest)),
// or with LOG 1 src[m,l,n] - largest - log(that sum), for CPUs: rows along n lie together.
//
//   src, dst  MLN   (m*L + l)*N + n
//
//           n          n+L
//      l   [ L numbers ]      one step of a work-item: L columns side by side, walked down three times (the
//      |   [ L numbers ]      largest, the sum of the exponentials, the quotients); the exponentials wait
//      v   [ L numbers ]      in dst for their sum
//
// The end of a row, fewer than L columns, is computed by the vector that ends there too, of which
// only these are stored; where a row is shorter than that, columns are computed one by one. The exponentials
// of columns that are not stored are worked out again. A work-group is one work-item, which takes every
// (number of work-groups)th range of L columns.
//
// Subtracting the largest element keeps exp() at 1 or below, so no column overflows; a NaN anywhere in
// a column makes the whole column NaN.
//
// Tunables: LANES, the L above: floats of a vector; GROUPS, work-groups for each compute unit at most.
__kernel ATTRIBUTES void columns(ARGUMENTS) {
  const int ranges = (N + LANES - 1) / LANES;
  const int units = M * ranges;
#if !LOG
  // Whether powers wait in dst for their sum: halves would round them, so they are computed again.
  const int waits = sizeof(*dst) == sizeof(float);
#endif
  for (int unit = get_global_id(0); unit < units; unit += get_global_size(0)) {
    const int m = unit / ranges;
    const int n0 = unit % ranges * LANES;
    const int start = N < LANES ? 0 : min(n0, N - LANES);
    __global const MEMORY_src* from = src + (size_t)m * L * N + start;
    __global MEMORY_dst* to = dst + (size_t)m * L * N + start;
    if (N >= LANES) {
      vector largest = vector_at(from);
      for (int l = 1; l < L; ++l) {
        const vector value = vector_at(from + (size_t)l * N);
        largest = largest < value ? value : largest;
      }
      vector sum = 0.0f;
      for (int l = 0; l < L; ++l) {
        const vector value = exp(vector_at(from + (size_t)l * N) - largest);
#if !LOG
        if (waits && start == n0) put_vector(to + (size_t)l * N, value);
#endif
        sum += value;
      }
#if LOG
      const vector shift = log(sum);
#else
      const vector share = 1.0f / sum;
#endif
      for (int l = 0; l < L; ++l) {
        const size_t row = (size_t)l * N;
#if LOG
        const vector result = vector_at(from + row) - largest - shift;
#else
        vector result;
        if (waits && start == n0) {
          result = vector_at(to + row) * share;
        } else {
          result = exp(vector_at(from + row) - largest) * share;
        }
#endif
        if (start == n0) {
#pragma unroll
          for (int i = 0; i < LANES; ++i) put_number(to + row + i, EPILOGUE(result[i], m, l, n0 + i));
        } else {
          float parts[LANES];
          *(vector*)parts = result;
          for (int i = n0 - start; i < LANES; ++i) {
            put_number(to + row + i, EPILOGUE(parts[i], m, l, start + i));
          }
        }
      }
      continue;
    }
    for (int n = 0; n < N; ++n) {
      float largest = number_at(from + n);
      for (int l = 1; l < L; ++l) largest = fmax(largest, number_at(from + l * N + n));
      float sum = 0.0f;
      for (int l = 0; l < L; ++l) sum += exp(number_at(from + l * N + n) - largest);
      for (int l = 0; l < L; ++l) {
        const float distance = number_at(from + l * N + n) - largest;
#if LOG
        const float result = distance - log(sum);
#else
        const float result = exp(distance) / sum;
#endif
        put_number(to + l * N + n, EPILOGUE(result, m, l, n));
      }
    }
  }
}
