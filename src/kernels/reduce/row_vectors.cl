// SPDX-License-Identifier: Apache-2.0
//
// reduce.row_vectors: dst[p,m,n] = EPILOGUE(FINISHED(MAPPED(src[m,l,n]) of all l of part p, COMBINED)), for
// CPUs: what is combined lies together.
//
//   src  MNL   (m*N + n)*L + l
//   dst  PMN   (p*M + m)*N + n
//
//        row r = m*N + n of src
//        [ 16 numbers | 16 numbers | 16 numbers | 16 numbers | 16 numbers | ... | 1 1 1 ]
//            total 0      total 1      total 2      total 3      total 0           rest
//
// Sixteen numbers are a vector; UNROLL vectors of totals are under way, so that no addition waits for the
// one before it. In the end they are combined, halving their number each time, and what is left of a
// row, fewer than 16 numbers, joins one by one.
//
// A work-group is one work-item; each takes as many rows, neighbours, as there are for it.
//
// MAPPED, COMBINED, START and FINISHED are what the problem's structure says (MAP, COMBINE, MEAN).
//
// Tunables: UNROLL; GROUPS, work-groups for each compute unit at most.
__kernel ATTRIBUTES void row_vectors(ARGUMENTS) {
  // Sixteen numbers that may start at any of them, where OpenCL's vectors start at whole vectors.
  typedef TYPE_src sixteen __attribute__((ext_vector_type(16), aligned(sizeof(TYPE_src))));
  const int rows = M * N;
  const ulong units = (ulong)P * rows;
  const int begin = units * get_global_id(0) / get_global_size(0);
  const int end = units * (get_global_id(0) + 1) / get_global_size(0);
  for (int unit = begin; unit < end; ++unit) {
    const int p = unit / rows;
    const int r = unit % rows;
    const int length = min(DEPTH, L - p * DEPTH);
    __global const TYPE_src* row = src + (size_t)r * L + p * DEPTH;
    TYPE_acc total = START;
    int l = 0;
    if (length >= 16) {
      sixteen totals[UNROLL];
#pragma unroll
      for (int i = 0; i < UNROLL; ++i) totals[i] = START;
      for (; l + 16 * UNROLL <= length; l += 16 * UNROLL) {
#pragma unroll
        for (int i = 0; i < UNROLL; ++i) {
          const sixteen value = *(__global const sixteen*)(row + l + 16 * i);
          const sixteen mapped = MAPPED(value);
          totals[i] = COMBINED(totals[i], mapped);
        }
      }
      for (; l + 16 <= length; l += 16) {
        const sixteen value = *(__global const sixteen*)(row + l);
        const sixteen mapped = MAPPED(value);
        totals[0] = COMBINED(totals[0], mapped);
      }
#pragma unroll
      for (int i = 1; i < UNROLL; ++i) totals[0] = COMBINED(totals[0], totals[i]);
      const sixteen all = totals[0];
      TYPE_acc parts[16];
#pragma unroll
      for (int i = 0; i < 8; ++i) parts[i] = COMBINED(all[i], all[i + 8]);
#pragma unroll
      for (int i = 0; i < 4; ++i) parts[i] = COMBINED(parts[i], parts[i + 4]);
      parts[0] = COMBINED(parts[0], parts[2]);
      parts[1] = COMBINED(parts[1], parts[3]);
      total = COMBINED(parts[0], parts[1]);
    }
    for (; l < length; ++l) {
      const TYPE_acc value = row[l];
      const TYPE_acc mapped = MAPPED(value);
      total = COMBINED(total, mapped);
    }
    const TYPE_acc result = FINISHED(total);
    PUT_dst(unit, EPILOGUE(result, p, r / N, r % N));
  }
}
