// SPDX-License-Identifier: Apache-2.0
//
// softmax.row_vectors: dst[m,l,n] = EPILOGUE(exp(src[m,l,n] - largest) / sum over l of exp(src[m,l,n] -
// largest)), or with LOG 1 src[m,l,n] - largest - log(that sum), for CPUs: rows along l lie together.
//
//   src, dst  MNL   (m*N + n)*L + l
//
//        row r = m*N + n
//        [ L numbers | L numbers | L numbers | 1 1 1 ]        a row is read three times, from the first-level
//                                               rest         cache after the first: for its largest number,
//                                                            for the exponentials and their sum, and for
//                                                            the quotients
//
// The exponentials wait in dst for their sum. What is left of a row, fewer than L numbers, is filled
// up to a vector with -INFINITY, whose exponential is 0. A work-group is one work-item, which takes
// neighbouring rows.
//
// Subtracting the largest element keeps exp() at 1 or below, so no row overflows; a NaN anywhere in a
// row makes the whole row NaN, since no number that is subtracted from it leaves another.
//
// Tunables: LANES, the L above: floats of a vector; GROUPS, work-groups for each compute unit at most.
__kernel ATTRIBUTES void row_vectors(ARGUMENTS) {
  const int rows = M * N;
  const int begin = share(rows, get_global_id(0), get_global_size(0));
  const int end = share(rows, get_global_id(0) + 1, get_global_size(0));
  const int whole = L / LANES * LANES;
#if !LOG
  // Whether powers wait in dst for their sum: halves would round them, so they are computed again.
  const int waits = sizeof(*dst) == sizeof(float);
#endif
  for (int r = begin; r < end; ++r) {
    __global const MEMORY_src* from = src + (size_t)r * L;
    __global MEMORY_dst* to = dst + (size_t)r * L;
    float rest[LANES];
#pragma unroll
    for (int i = 0; i < LANES; ++i) rest[i] = whole + i < L ? number_at(from + whole + i) : -INFINITY;
    const vector last = *(const vector*)rest;
    vector highest = last;
    for (int l = 0; l < whole; l += LANES) {
      const vector value = vector_at(from + l);
      highest = highest < value ? value : highest;
    }
    const float largest = largest_of(highest);
    const vector last_exp = exp(last - largest);
    vector sums = last_exp;
    for (int l = 0; l < whole; l += LANES) {
      const vector value = exp(vector_at(from + l) - largest);
#if !LOG
      if (waits) put_vector(to + l, value);
#endif
      sums += value;
    }
    const float sum = sum_of(sums);
    const int m = r / N;
    const int n = r % N;
#if LOG
    const float shift = log(sum);
    for (int l = 0; l < L; ++l) {
      const float result = number_at(from + l) - largest - shift;
      put_number(to + l, EPILOGUE(result, m, l, n));
    }
#else
    const float scale = 1.0f / sum;
    for (int l = 0; waits && l < whole; ++l) {
      const float result = number_at(to + l) * scale;
      put_number(to + l, EPILOGUE(result, m, l, n));
    }
    for (int l = 0; !waits && l < whole; l += LANES) {
      float powers[LANES];
      *(vector*)powers = exp(vector_at(from + l) - largest) * scale;
      for (int i = 0; i < LANES; ++i) put_number(to + l + i, EPILOGUE(powers[i], m, l + i, n));
    }
    *(vector*)rest = last_exp * scale;
    for (int l = whole; l < L; ++l) put_number(to + l, EPILOGUE(rest[l - whole], m, l, n));
#endif
  }
}
