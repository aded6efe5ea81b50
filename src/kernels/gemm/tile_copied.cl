// SPDX-License-Identifier: Apache-2.0
//
// gemm.tile_copied, gemm.tile_filters: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]), for CPUs, rhs and
// dst row-major as they are. In gemm.tile_filters lhs are weights, which are packed once.
//
// As gemm.tile, but each work-item makes its panel itself: a work-group is one work-item, which computes
// a band of dst, TILE_N columns wide and many tiles of TILE_M rows high. The first tile reads rhs in
// place and leaves what it reads in a panel, whose stores run beside its multiplications; the tiles
// below read the panel, in which the rows follow each other.
//
//   lhs  R   m*K + k, or R_{TILE_M}_1_C   (m/TILE_M)*(K*TILE_M) + k*TILE_M + m%TILE_M
//   rhs  R   k*N + n
//   dst  R   m*N + n
//
//                           rhs: from one row to the next it is N elements
//                           n            n+TILE_N
//                       k ..[L ][L ][L ].. ---> panel[k]     left behind by the first tile
//                             |   |   |           |
//        lhs      k           v   v   v           |
//        m        x  ---->  [L ][L ][L ]          |          first tile: TILE_M * TILE_N/L
//        m+TILE_M x  ---->  [L ][L ][L ]          |          accumulators
//        .                    ^   ^   ^           |
//        .        x  ---->  [L ][L ][L ]  <-------+          second tile, third ... to the end of
//        .        x  ---->  [L ][L ][L ]                     the band
//
// TILE_M rows of K floats each are TILE_M streams, which is more than a processor reads ahead; with
// thousands of rows and few columns (the last layers of a network) they are what the product waits for.
// gemm.tile_filters has one stream: the numbers that one step of a tile multiplies with lie together.
//
// Work-groups down the rows come first, so those that follow each other find rhs in the cache. The
// last columns, if they are fewer than TILE_N, come before all others: they cost less, and what is
// left for the end is then of one size. They are copied to a panel padded with zeros, and computed in
// vectors of L, one after the other.
//
// Edges: in place of rows that do not exist the last one is read; in gemm.tile_filters the rows that pad lhs are
// computed from whatever is there, and not stored.
//
// Tunables: LANES, the L above: floats of a vector;
// TILE_M rows and TILE_N columns (a multiple of LANES) of the tile; BAND_M rows of a band at most
// (a multiple of TILE_M); DEPTH rows of the panel; FILTERS in gemm.tile_filters only. How many bands there are is
// the global size.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory; memory of lhs in
// gemm.tile_filters covers M rounded up to TILE_M.
#ifdef FILTERS
#define LHS_ROW(i) (lhs + (m0 + t) * K + k0 * TILE_M + (i))
#define LHS_STEP TILE_M
#else
#define LHS_ROW(i) (lhs + (m0 + min(t + (i), rows - 1)) * K + k0)
#define LHS_STEP 1
#endif
// Rows of a tile that are no floats become floats.
#define WIDENED (!HOLDS_FLOATS(MEMORY_lhs))

__kernel ATTRIBUTES void tile_copied(ARGUMENTS) {
  __local float panel[DEPTH * TILE_N];
  __local float sums[BAND_M * TILE_N];
  const int bands = get_global_size(0);
  const int height = ((M + TILE_M - 1) / TILE_M + bands - 1) / bands * TILE_M;
  const int m0 = get_global_id(0) * height;
  const int rows = min(M - m0, height);
  const int n0 = (get_global_size(1) - 1 - get_global_id(1)) * TILE_N;
  const int columns = min(N - n0, TILE_N);

  for (int k0 = 0; k0 < K; k0 += DEPTH) {
    const int depth = min(K - k0, DEPTH);
    if (columns < TILE_N) {
      for (int k = 0; k < depth; ++k) {
        __global const MEMORY_rhs* across = rhs + (k0 + k) * N + n0;
        __local float* copy = panel + k * TILE_N;
        int c = 0;
        for (; c + LANES <= columns; c += LANES) {
          *(__local vector*)(copy + c) = vector_at(across + c);
        }
        for (; c < columns; ++c) copy[c] = number_at(across + c);
        for (; c % LANES != 0; ++c) copy[c] = 0.0f;
      }
    }
    for (int t = 0; t < rows; t += TILE_M) {
      tile_row row[TILE_M];
#if WIDENED
      float numbers[TILE_M * DEPTH];
#ifdef FILTERS
      widen(numbers, LHS_ROW(0), 1, TILE_M * depth);
#else
      for (int i = 0; i < TILE_M; ++i) widen(numbers + i * DEPTH, LHS_ROW(i), 1, depth);
#endif
#pragma unroll
      for (int i = 0; i < TILE_M; ++i) row[i] = numbers + i * (LHS_STEP == 1 ? DEPTH : 1);
#else
#pragma unroll
      for (int i = 0; i < TILE_M; ++i) row[i] = LHS_ROW(i);
#endif
      __local float* waiting = sums + t * TILE_N;
      if (columns < TILE_N) {
        multiply_narrow(waiting, row, LHS_STEP, panel, depth, columns, k0 == 0);
      } else {
        vector sum[TILE_M][TILE_VECTORS];
        take_waiting(sum, waiting, k0 == 0);
        if (t > 0) {
          multiply_panel(sum, row, LHS_STEP, panel, depth);
        } else {
          __global const MEMORY_rhs* across = rhs + k0 * N + n0;
          for (int k = 0; k < depth; ++k) {
            vector found[TILE_VECTORS];
#pragma unroll
            for (int j = 0; j < TILE_VECTORS; ++j) {
              found[j] = vector_at(across + k * N + LANES * j);
              *(__local vector*)(panel + k * TILE_N + LANES * j) = found[j];
            }
#pragma unroll
            for (int i = 0; i < TILE_M; ++i) {
              const float scalar = row[i][k * LHS_STEP];
#pragma unroll
              for (int j = 0; j < TILE_VECTORS; ++j) sum[i][j] += scalar * found[j];
            }
          }
        }
        leave_waiting(sum, waiting);
      }
      if (k0 + DEPTH < K) continue;
      // The text of the epilogue stands once: it may be long, and PoCL compiles every copy.
      for (int i = t; i < min(t + TILE_M, rows); ++i) {
        __global MEMORY_dst* out = dst + (m0 + i) * N + n0;
        for (int c = 0; c < columns; ++c) {
          put_number(out + c, EPILOGUE(sums[i * TILE_N + c], m0 + i, n0 + c));
        }
      }
    }
  }
}
#undef LHS_ROW
#undef LHS_STEP
#undef WIDENED
