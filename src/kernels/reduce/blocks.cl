// SPDX-License-Identifier: Apache-2.0
//
// reduce.blocks: dst[p,m,n] = EPILOGUE(FINISHED(MAPPED(src[m,l,n]) of all l of part p, COMBINED)), where
// L rows lie together: the mean of each channel of an image in blocks of channels, for CPUs
//
//   src  MLN{L}m   ((m/L*L + l)*N + n)*L + m%L
//   dst  PMN      (p*M + m)*N + n
//
//      l   [ L rows ]      one work-item: L results, of which those beyond M are dropped
//      |       +
//      v   [ L rows ] 
//
// MAPPED, COMBINED, START and FINISHED are what the problem's structure says (MAP, COMBINE, MEAN).
//
// Tunables: LANES, the L above: floats of a vector; GROUPS, work-items for each compute unit at most.
// Assumes: memory of src covers M rounded up to L, whatever it holds there.
// Blocks of this many elements are combined first: a long sum that is added up one by one loses digits.
#define BLOCK 64

__kernel ATTRIBUTES void blocks(ARGUMENTS) {
  const int units = P * ((M + LANES - 1) / LANES) * N;
  for (int unit = get_global_id(0); unit < units; unit += get_global_size(0)) {
    const int n = unit % N;
    const int p = unit / N % P;
    const int m0 = unit / N / P * LANES;
    const int l_end = min((p + 1) * DEPTH, L);
    __global const MEMORY_src* from = src + m0 * L * N + n * LANES;
    vector totals = START;
    for (int block = p * DEPTH; block < l_end; block += BLOCK) {
      vector parts = START;
      for (int l = block; l < min(block + BLOCK, l_end); ++l) {
        const vector value = vector_at(from + l * N * LANES);
        const vector mapped = MAPPED(value);
        parts = COMBINED(parts, mapped);
      }
      totals = COMBINED(totals, parts);
    }
    const vector results = FINISHED(totals);
    float found[LANES];
    *(vector*)found = results;
    for (int j = 0; j < min(LANES, M - m0); ++j) {
      PUT_dst((p * M + m0 + j) * N + n, EPILOGUE(found[j], p, m0 + j, n));
    }
  }
}
#undef BLOCK
