// SPDX-License-Identifier: Apache-2.0
//
// determinant.naive: dst[b,0] = the determinant of src[b,m,n], dst[b,s] = 0 for s > 0, where M = N and S = M * N.
//
//   src(b, m, n)   through accessors     dst  R, as it lies in memory: the matrix in the making
//
//        k  [u u u u]   one work-item: one matrix. Step k takes the row whose element in column k is the largest, by
//        |  [. u u u]   its magnitude, to row k, and clears that column below it. The product of the diagonal is the
//        v  [. . x x]   determinant, but for its sign: each exchange of two rows changes that
//           [. . x x]
//
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits.
__kernel ATTRIBUTES void eliminate(ARGUMENTS) {
  const int b = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (b >= B) return;
  const int first = b * S;
  for (int e = 0; e < S; ++e) PUT_dst(first + e, LOAD_src(b, e / M, e % M));
  TYPE_acc result = 1;
  for (int k = 0; k < M; ++k) {
    int row = k;
    TYPE_acc largest = fabs(AT_dst(first + k * M + k));
    for (int m = k + 1; m < M; ++m) {
      const TYPE_acc size = fabs(AT_dst(first + m * M + k));
      row = size > largest ? m : row;
      largest = fmax(size, largest);
    }
    const TYPE_acc pivot = AT_dst(first + row * M + k);
    result *= row == k ? pivot : -pivot;
    if (pivot == 0) break;
    for (int n = k; row != k && n < M; ++n) {
      const TYPE_acc kept = AT_dst(first + k * M + n);
      PUT_dst(first + k * M + n, AT_dst(first + row * M + n));
      PUT_dst(first + row * M + n, kept);
    }
    for (int m = k + 1; m < M; ++m) {
      const TYPE_acc factor = AT_dst(first + m * M + k) / pivot;
      for (int n = k + 1; n < M; ++n) {
        PUT_dst(first + m * M + n, AT_dst(first + m * M + n) - factor * AT_dst(first + k * M + n));
      }
    }
  }
  PUT_dst(first, result);
  for (int e = 1; e < S; ++e) PUT_dst(first + e, 0);
}
