// SPDX-License-Identifier: Apache-2.0
//
// normalize.naive: dst[m,l,n] = EPILOGUE((src[m,l,n] - mean) / size), all along l and for any formats: with
// KIND 0 the mean and sqrt(variance + e), with KIND 1 nothing and the sum of |src|, with KIND 2 nothing and the
// root of the sum of squares.
//
// inverse_deviation.naive: dst[m,n] = EPILOGUE(1 / sqrt(variance over l of src[m,l,n] + e)).
//
//   src(m, l, n), dst(m, l, n) or dst(m, n)   through accessors
//
//           l ->
//        n [x x x x x]     one work-item: one row along l, read three times (sum, squares of the distances
//        | [x x x x x]     from the mean, result), or twice where there is no mean; rows are counted along n,
//        v                 then m, and spread over two dimensions of 32,768 at most
//
// The variance is the mean square of the distances from the mean, so that a mean far from zero
// costs no digits; blocks of 64 elements are added up first, since a long sum that is added up one by
// one loses them too. e is what the bits in EPSILON say.
//
// Tunables: LOCAL, work-items of a work-group; DEVIATION in inverse_deviation.naive only.
#ifdef DEVIATION
#define KIND 0
#endif

__kernel ATTRIBUTES void naive(ARGUMENTS) {
  ROW_OF_ITEM(m, n)
  TYPE_acc mean = 0;
#if KIND == 0
  for (int block = 0; block < L; block += 64) {
    const int end = min(block + 64, L);
    TYPE_acc part = 0;
    for (int l = block; l < end; ++l) part += LOAD_src(m, l, n);
    mean += part;
  }
  mean /= (TYPE_acc)L;
#endif
  TYPE_acc sum = 0;
  for (int block = 0; block < L; block += 64) {
    const int end = min(block + 64, L);
    TYPE_acc part = 0;
    for (int l = block; l < end; ++l) {
      const TYPE_acc distance = LOAD_src(m, l, n) - mean;
#if KIND == 1
      part += fabs(distance);
#else
      part += distance * distance;
#endif
    }
    sum += part;
  }
#ifdef DEVIATION
  const TYPE_acc result = 1 / sqrt(sum / (TYPE_acc)L + as_float(EPSILON));
  STORE_dst(m, n, EPILOGUE(result, m, n));
#else
#if KIND == 0
  const TYPE_acc size = sqrt(sum / (TYPE_acc)L + as_float(EPSILON));
#elif KIND == 1
  const TYPE_acc size = sum == 0 ? 1 : sum;
#else
  const TYPE_acc size = sum == 0 ? 1 : sqrt(sum);
#endif
  for (int l = 0; l < L; ++l) {
    const TYPE_acc result = (LOAD_src(m, l, n) - mean) / size;
    STORE_dst(m, l, n, EPILOGUE(result, m, l, n));
  }
#endif
}
#ifdef DEVIATION
#undef KIND
#endif
