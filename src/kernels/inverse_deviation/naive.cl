// SPDX-License-Identifier: Apache-2.0
//
// inverse_deviation.naive: dst[m,n] = EPILOGUE(1 / sqrt(variance over l of src[m,l,n] + e)), for any formats.
//
//   src(m, l, n), dst(m, n)   through accessors
//
//           l ->
//        n [x x x x x]     one work-item: one row along l, read twice (sum, squares of the distances from the
//        | [x x x x x]     mean); rows are counted along n, then m, and spread over two dimensions of
//        v                 32,768 at most
//
// Blocks of 64 elements are added up first: a long sum that is added up one by one loses digits. e is
// what the bits in EPSILON say.
//
// Tunables: LOCAL, work-items of a work-group.
__kernel ATTRIBUTES void naive(ARGUMENTS) {
  const uint r = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (r >= (uint)(M * N)) return;
  const int m = r / N;
  const int n = r % N;
  TYPE_acc mean = 0;
  for (int block = 0; block < L; block += 64) {
    const int end = min(block + 64, L);
    TYPE_acc part = 0;
    for (int l = block; l < end; ++l) part += LOAD_src(m, l, n);
    mean += part;
  }
  mean /= (TYPE_acc)L;
  TYPE_acc sum = 0;
  for (int block = 0; block < L; block += 64) {
    const int end = min(block + 64, L);
    TYPE_acc part = 0;
    for (int l = block; l < end; ++l) {
      const TYPE_acc distance = LOAD_src(m, l, n) - mean;
      part += distance * distance;
    }
    sum += part;
  }
  const TYPE_acc result = 1 / sqrt(sum / (TYPE_acc)L + as_float(EPSILON));
  STORE_dst(m, n, EPILOGUE(result, m, n));
}
