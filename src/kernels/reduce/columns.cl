// SPDX-License-Identifier: Apache-2.0
//
// reduce.columns and reduce.single_columns: dst[p,m,n] = EPILOGUE(FINISHED(MAPPED(src[m,l,n]) of all l of
// part p, COMBINED)): results that are neighbours lie together.
//
//   src  MLN   (m*L + l)*N + n
//   dst  PMN   (p*M + m)*N + n
//
//           n                       n + WIDTH*VECTORS
//      l   [ WIDTH numbers | WIDTH numbers ]     one work-item: VECTORS vectors of results side by side, for
//      |       +               +                 which it walks down the rows; the ranges of all rows of
//      |   [ WIDTH numbers | WIDTH numbers ]     results are counted, and a work-item takes every
//      v       +               +                 (number of work-items)th
//
// The end of a row, fewer than WIDTH results, is computed by the vector that ends there too, of which
// only these are stored; where a row is shorter than that, its results are computed one by one.
//
// The two differ in their standard values: a CPU has wide vectors, and neighbouring work-items of a
// GPU read neighbouring numbers.
//
// MAPPED, COMBINED, START and FINISHED are what the problem's structure says (MAP, COMBINE, MEAN).
//
// Tunables: WIDTH of a vector; VECTORS of a work-item; LOCAL, work-items of a work-group.
#define RANGE (WIDTH * VECTORS)
// Blocks of this many rows are combined first: a long sum that is added up one by one loses digits.
#define BLOCK 64

__kernel ATTRIBUTES void columns(ARGUMENTS) {
#if WIDTH == 1
  typedef TYPE_src several;
#else
  typedef TYPE_src several __attribute__((ext_vector_type(WIDTH), aligned(sizeof(TYPE_src))));
#endif
  const int ranges = (N + RANGE - 1) / RANGE;
  const uint units = (uint)(P * M) * ranges;
  const uint step = get_global_size(0) * get_global_size(1);
  for (uint unit = get_global_id(1) * get_global_size(0) + get_global_id(0); unit < units;
       unit += step) {
    const int p = unit / ranges / M;
    const int m = unit / ranges % M;
    const int n0 = unit % ranges * RANGE;
    const int n_end = min(n0 + RANGE, N);
    const int l0 = p * DEPTH;
    const int l_end = min(l0 + DEPTH, L);
    __global const TYPE_src* top = src + (size_t)m * L * N;
    const int to = (p * M + m) * N;
    if (n0 + RANGE <= N) {
      several totals[VECTORS];
#pragma unroll
      for (int i = 0; i < VECTORS; ++i) totals[i] = START;
      for (int block = l0; block < l_end; block += BLOCK) {
        const int block_end = min(block + BLOCK, l_end);
        several parts[VECTORS];
#pragma unroll
        for (int i = 0; i < VECTORS; ++i) parts[i] = START;
        for (int l = block; l < block_end; ++l) {
          __global const TYPE_src* row = top + (size_t)l * N + n0;
#pragma unroll
          for (int i = 0; i < VECTORS; ++i) {
            const several value = *(__global const several*)(row + i * WIDTH);
            const several mapped = MAPPED(value);
            parts[i] = COMBINED(parts[i], mapped);
          }
        }
#pragma unroll
        for (int i = 0; i < VECTORS; ++i) totals[i] = COMBINED(totals[i], parts[i]);
      }
#pragma unroll
      for (int i = 0; i < VECTORS; ++i) {
        const several results = FINISHED(totals[i]);
#if WIDTH == 1
        PUT_dst(to + n0 + i, EPILOGUE(results, p, m, n0 + i));
#else
#pragma unroll
        for (int j = 0; j < WIDTH; ++j) {
          const int n = n0 + i * WIDTH + j;
          PUT_dst(to + n, EPILOGUE(results[j], p, m, n));
        }
#endif
      }
      continue;
    }
    int done = n0;
#if WIDTH > 1
    for (; done < n_end && n_end >= WIDTH; done = min(done + WIDTH, n_end)) {
      const int n = min(done, n_end - WIDTH);
      several totals = START;
      for (int block = l0; block < l_end; block += BLOCK) {
        const int block_end = min(block + BLOCK, l_end);
        several parts = START;
        for (int l = block; l < block_end; ++l) {
          const several value = *(__global const several*)(top + (size_t)l * N + n);
          const several mapped = MAPPED(value);
          parts = COMBINED(parts, mapped);
        }
        totals = COMBINED(totals, parts);
      }
      const several results = FINISHED(totals);
      for (int j = done - n; j < WIDTH; ++j) PUT_dst(to + n + j, EPILOGUE(results[j], p, m, n + j));
    }
#endif
    for (; done < n_end; ++done) {
      TYPE_acc total = START;
      for (int block = l0; block < l_end; block += BLOCK) {
        const int block_end = min(block + BLOCK, l_end);
        TYPE_acc part = START;
        for (int l = block; l < block_end; ++l) {
          const TYPE_acc value = top[(size_t)l * N + done];
          const TYPE_acc mapped = MAPPED(value);
          part = COMBINED(part, mapped);
        }
        total = COMBINED(total, part);
      }
      const TYPE_acc result = FINISHED(total);
      PUT_dst(to + done, EPILOGUE(result, p, m, done));
    }
  }
}
#undef RANGE
#undef BLOCK
