// SPDX-License-Identifier: Apache-2.0
//
// gemm.tile_unpacked, gemm.tile_columns: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]), for
// CPUs, all operands as they are: row-major, but for gemm.tile_columns' lhs, which is column-major. A
// gradient of weights is such a product; its lhs is the gradient of the result, transposed.
//
// As gemm.tile, without its panels: a work-group is one work-item, which keeps TILE_M x TILE_N elements
// in vector registers, and in each step of k reads TILE_N neighbours of a row of rhs in place.
//
//   lhs  R   m*K + k, or C   k*M + m
//   rhs  R   k*N + n
//   dst  R   m*N + n
//
//                             rhs: from one row to the next it is N elements
//                             n           n+TILE_N
//                       k  ...[L ][L ][L ][L ]...      one step: TILE_N/L vectors of L,
//                               |   |   |   |          each multiplied by TILE_M scalars
//        lhs      k             v   v   v   v
//        m        x  ------>  [L ][L ][L ][L ]
//        .        x  ------>  [L ][L ][L ][L ]         the tile of dst: TILE_M * TILE_N/L
//        m+TILE_M x  ------>  [L ][L ][L ][L ]         accumulators
//
// Nothing is packed, which pays for few rows. For many, panels win: where N is a large power of two, the
// K pieces of a tile's columns compete for the same few lines of the caches.
//
// Edges: in place of rows that do not exist row M - 1 is read. The last tile of columns is moved left
// until it ends at N; it computes columns that its neighbour has too, and stores its own. Where N is
// below TILE_N, vectors of L are moved so one by one; below L, a vector is read beyond its row.
//
// Tunables: LANES, the L above: floats of a vector;
// TILE_M rows and TILE_N columns (a multiple of LANES) of the tile; COLUMNS in gemm.tile_columns
// only.
#ifdef COLUMNS
#define LHS_ROW(m) (lhs + (m))
#define LHS_STEP M
#else
#define LHS_ROW(m) (lhs + (m) * K)
#define LHS_STEP 1
#endif
// Steps of k for which rows of lhs that are no floats become floats.
#define DEPTH 256

__kernel ATTRIBUTES void tile_unpacked(ARGUMENTS) {
  const int m0 = get_global_id(0) * TILE_M;
  const int own = get_global_id(1) * TILE_N;
  const int rows = min(M - m0, TILE_M);
  __global const MEMORY_lhs* row[TILE_M];
#pragma unroll
  for (int i = 0; i < TILE_M; ++i) row[i] = LHS_ROW(m0 + min(i, rows - 1));

  float sums[TILE_M][TILE_N];
  int first = own;  // the column of sums[i][0]

  if (N >= TILE_N) {
    first = min(own, N - TILE_N);
    vector sum[TILE_M][TILE_VECTORS];
    clear_tile(sum);
#if HOLDS_FLOATS(MEMORY_lhs)
    multiply_rows(sum, row, LHS_STEP, rhs + first, N, K);
#else
    float numbers[TILE_M][DEPTH];
    tile_row wide[TILE_M];
#pragma unroll
    for (int i = 0; i < TILE_M; ++i) wide[i] = numbers[i];
    for (int k = 0; k < K; k += DEPTH) {
      const int depth = min(K - k, DEPTH);
      for (int i = 0; i < TILE_M; ++i) widen(numbers[i], row[i] + k * LHS_STEP, LHS_STEP, depth);
      multiply_rows(sum, wide, 1, rhs + k * N + first, N, depth);
    }
#endif
    keep_tile(sum, sums);
  } else if (N >= LANES) {
    for (int n = 0; n < N; n += LANES) {
      const int left = min(n, N - LANES);
      vector sum[TILE_M];
#pragma unroll
      for (int i = 0; i < TILE_M; ++i) sum[i] = 0.0f;
      for (int k = 0; k < K; ++k) {
        const vector across = vector_at(rhs + k * N + left);
#pragma unroll
        for (int i = 0; i < TILE_M; ++i) sum[i] += number_at(row[i] + k * LHS_STEP) * across;
      }
#pragma unroll
      for (int i = 0; i < TILE_M; ++i) *(vector*)(sums[i] + left) = sum[i];
    }
  } else {
    // A vector reaches into the rows below, whose values go to columns that are not stored. The last
    // rows, below which there are not enough, are copied before.
    const int last = K - min(K, (LANES - 1) / N);
    vector sum[TILE_M];
#pragma unroll
    for (int i = 0; i < TILE_M; ++i) sum[i] = 0.0f;
    for (int k = 0; k < last; ++k) {
      const vector across = vector_at(rhs + k * N);
#pragma unroll
      for (int i = 0; i < TILE_M; ++i) sum[i] += number_at(row[i] + k * LHS_STEP) * across;
    }
    float copy[LANES];
    for (int n = 0; n < LANES; ++n) copy[n] = 0.0f;
    for (int k = last; k < K; ++k) {
      for (int n = 0; n < N; ++n) copy[n] = number_at(rhs + k * N + n);
      const vector across = *(const vector*)copy;
#pragma unroll
      for (int i = 0; i < TILE_M; ++i) sum[i] += number_at(row[i] + k * LHS_STEP) * across;
    }
#pragma unroll
    for (int i = 0; i < TILE_M; ++i) *(vector*)sums[i] = sum[i];
  }

  const int end = min(own + TILE_N, N);
  for (int i = 0; i < rows; ++i) {
    __global MEMORY_dst* out = dst + (m0 + i) * N;
    for (int n = own; n < end; ++n) put_number(out + n, EPILOGUE(sums[i][n - first], m0 + i, n));
  }
}
#undef LHS_ROW
#undef LHS_STEP
#undef DEPTH
