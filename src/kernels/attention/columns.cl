// SPDX-License-Identifier: Apache-2.0
//
// attention.columns: dst[b,h,m,w] = EPILOGUE(sum over l of share[m,l] * value[b,h,l,w]),
// where share is the softmax over l of SCALE * sum over d of query[b,h,m,d] * key[b,h,l,d] + mask[e,f,g,s], for CPUs.
//
//   query, dst  BMHD, BMHW   ((b*M + m)*H + h)*D + d     as the products before leave them: no head is
//   key, value  BLHD, BLHW   ((b*L + l)*H + h)*D + d     brought together in memory first
//   mask        EFGS         ((e*F + f)*G + g)*S + s
//
// A work-group is one work-item, which computes TILE_N = 2*LANES neighbouring queries of one head. A score's queries lie
// side by side, so all of the softmax goes down columns, in whole vectors: no sum runs across lanes.
//
//        queries  m                m+TILE_N
//               d [LANES  ][LANES  ]          turned round and scaled, once
//                     |        |
//        key  d       v        v
//        l    x ---> [LANES  ][LANES  ]   l   TILE_M rows of scores at a time; below each other they are a
//        l+1  x ---> [       ][       ]       column for each query: its largest, its exponentials, their sum
//        .           scores
//                     m m+1 m+2 ...
//        value  w     x  x  x                 down the scores again: TILE_M queries at a time, each scalar
//        l    [W ][W ]   |  |                 multiplies a row of values
//        l+1  [W ][W ]<--+--+                 dst[m,w..w+TILE_N]
//
// The shares are divided by their sum at the end, in dst. Subtracting the largest score keeps exp() at 1 or below; a NaN
// anywhere in a query's scores makes all of its results NaN.
//
// Edges: queries that do not exist are zeros, and not stored. In place of keys beyond the last the last is read: its
// score is the largest at most once more, and stands where nobody reads it. The last columns of dst, if they are
// fewer than a vector, are computed from W - LANES on.
//
// Tunables: LANES, floats of a vector; TILE_M rows of scores, or queries of results, in registers and TILE_N
// queries, or columns of results, two vectors; DEPTH, the longest sequence; HEAD, the most columns of queries and keys.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory; W >= LANES; elements of
// each operand are countable in 31 bits.
__kernel ATTRIBUTES void columns(ARGUMENTS) {
  __local float queries[HEAD * TILE_N];
  __local float scores[(DEPTH + TILE_M) * TILE_N];
  const int m0 = get_global_id(0) * TILE_N;
  const int b = get_global_id(1) / H;
  const int h = get_global_id(1) % H;
  const int count = min(M - m0, TILE_N);
  const float scale = as_float(SCALE);
  __global const MEMORY_key* keys = key + (b * L * H + h) * D;
  __global const MEMORY_value* values = value + (b * L * H + h) * W;
  __global const MEMORY_mask* masks = mask + ((E == 1 ? 0 : b) * F + (F == 1 ? 0 : h)) * G * S;

  for (int m = 0; m < TILE_N; ++m) {
    __global const MEMORY_query* from = query + ((b * M + m0 + min(m, count - 1)) * H + h) * D;
    for (int d = 0; d < D; ++d) queries[d * TILE_N + m] = m < count ? number_at(from + d) * scale : 0.0f;
  }

  vector largest[2];
  largest[0] = largest[1] = -INFINITY;
  for (int l = 0; l < L; l += TILE_M) {
    tile_row row[TILE_M];
#if HOLDS_FLOATS(MEMORY_key)
#pragma unroll
    for (int i = 0; i < TILE_M; ++i) row[i] = keys + min(l + i, L - 1) * H * D;
#else
    float numbers[TILE_M][HEAD];
    for (int i = 0; i < TILE_M; ++i) widen(numbers[i], keys + min(l + i, L - 1) * H * D, 1, D);
#pragma unroll
    for (int i = 0; i < TILE_M; ++i) row[i] = numbers[i];
#endif
    vector sum[TILE_M][TILE_VECTORS];
    clear_tile(sum);
    multiply_panel(sum, row, 1, queries, D);
#pragma unroll
    for (int i = 0; i < TILE_M; ++i) {
      add_mask(sum[i], masks, m0, M, S == 1 ? 0 : min(l + i, L - 1), S, G);
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        *(__local vector*)(scores + (l + i) * TILE_N + LANES * j) = sum[i][j];
        largest[j] = largest[j] < sum[i][j] ? sum[i][j] : largest[j];
      }
    }
  }

  float whole[TILE_N];
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    vector sum = 0.0f;
    for (int l = 0; l < L; ++l) {
      __local vector* place = (__local vector*)(scores + l * TILE_N + LANES * j);
      const vector power = exp(*place - largest[j]);
      *place = power;
      sum += power;
    }
    *(vector*)(whole + LANES * j) = sum;
  }

  for (int w = 0; w < W; w += TILE_N) {
    const int left = min(w, W - LANES);
    const int right = min(w + LANES, W - LANES);
    for (int t = 0; t < count; t += TILE_M) {
      vector sum[TILE_M][TILE_VECTORS];
      clear_tile(sum);
      for (int l = 0; l < L; ++l) {
        __local const float* shares = scores + l * TILE_N + t;
        const vector first = vector_at(values + l * H * W + left);
        const vector second = vector_at(values + l * H * W + right);
#pragma unroll
        for (int i = 0; i < TILE_M; ++i) {
          sum[i][0] += shares[i] * first;
          sum[i][1] += shares[i] * second;
        }
      }
      float results[TILE_M][TILE_N];
      keep_tile(sum, results);
      for (int i = 0; i < min(count - t, TILE_M); ++i) {
        const int m = m0 + t + i;
        __global MEMORY_dst* out = dst + ((b * M + m) * H + h) * W;
        for (int c = 0; c < TILE_N; ++c) {
          const int place = c < LANES ? left + c : right + c - LANES;
          const float result = results[i][c] / whole[t + i];
          put_number(out + place, EPILOGUE(result, b, h, m, place));
        }
      }
    }
  }
}
