// SPDX-License-Identifier: Apache-2.0
//
// reduce.blocks: dst[p,m,n] = EPILOGUE(FINISHED(MAPPED(src[m,l,n]) of all l of part p, COMBINED)), where
// sixteen rows lie together: the mean of each channel of an image in blocks of channels, for CPUs
//
//   src  MLN16m   ((m/16*L + l)*N + n)*16 + m%16
//   dst  PMN      (p*M + m)*N + n
//
//      l   [ 16 rows ]     one work-item: sixteen results, of which those beyond M are dropped
//      |       +
//      v   [ 16 rows ]
//
// MAPPED, COMBINED, START and FINISHED are what the problem's structure says (MAP, COMBINE, MEAN).
//
// Assumes: memory of src covers M rounded up to 16, whatever it holds there.
// Blocks of this many elements are combined first: a long sum that is added up one by one loses digits.
#define BLOCK 64

__kernel ATTRIBUTES void blocks(ARGUMENTS) {
  typedef float sixteen __attribute__((ext_vector_type(16), aligned(4)));
  const int units = P * ((M + 15) / 16) * N;
  for (int unit = get_global_id(0); unit < units; unit += get_global_size(0)) {
    const int n = unit % N;
    const int p = unit / N % P;
    const int m0 = unit / N / P * 16;
    const int l_end = min((p + 1) * DEPTH, L);
    __global const float* from = src + m0 * L * N + n * 16;
    sixteen totals = START;
    for (int block = p * DEPTH; block < l_end; block += BLOCK) {
      sixteen parts = START;
      for (int l = block; l < min(block + BLOCK, l_end); ++l) {
        const sixteen value = *(__global const sixteen*)(from + l * N * 16);
        const sixteen mapped = MAPPED(value);
        parts = COMBINED(parts, mapped);
      }
      totals = COMBINED(totals, parts);
    }
    const sixteen results = FINISHED(totals);
    float found[16];
    *(sixteen*)found = results;
    for (int j = 0; j < min(16, M - m0); ++j) {
      PUT_dst((p * M + m0 + j) * N + n, EPILOGUE(found[j], p, m0 + j, n));
    }
  }
}
#undef BLOCK
