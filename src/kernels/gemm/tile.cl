// SPDX-License-Identifier: Apache-2.0
//
// gemm.tile: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]), for CPUs.
//
// A work-group is one work-item, which computes a tile of TILE_M x TILE_N elements and keeps all of
// it in vector registers: in each step of k it reads one row of a panel of rhs and multiplies it by
// TILE_M scalars of lhs.
//
//   lhs  R                 m*K + k
//   rhs  R_*_{TILE_N}_R    (n/TILE_N)*(K*TILE_N) + k*TILE_N + n%TILE_N
//   dst  R                 m*N_pad + n
//
//                             one panel of rhs: its rows follow each other in memory
//                             n           n+TILE_N
//                           k [L ][L ][L ][L ]         one step: TILE_N/L vectors of L,
//                               |   |   |   |          each multiplied by TILE_M scalars
//        lhs      k             v   v   v   v
//        m        x  ------>  [L ][L ][L ][L ]
//        .        x  ------>  [L ][L ][L ][L ]         the tile of dst: TILE_M * TILE_N/L
//        m+TILE_M x  ------>  [L ][L ][L ][L ]         accumulators
//
// Work-groups along m come first, so those that follow each other read the same panel, which stays
// in the second-level cache while lhs streams by.
//
// Edges: of the last rows, if they are more than half a tile, a whole tile is computed in which row
// M - 1 stands for the rows that do not exist; if they are fewer, each row by itself. A panel is
// always computed whole, and the columns from N on are not stored.
//
// Tunables: LANES, the L above: floats of a vector;
// TILE_M rows and TILE_N columns (a multiple of LANES) of the tile.
// Assumes: memory of rhs covers N rounded up to TILE_N, whatever it holds there.
// Steps of k for which rows of lhs that are no floats become floats.
#define DEPTH 256

__kernel ATTRIBUTES void tile(ARGUMENTS) {
  const int m0 = get_global_id(0) * TILE_M;
  const int n0 = get_global_id(1) * TILE_N;
  __global const MEMORY_rhs* panel = rhs + n0 * K;
  const int rows = min(M - m0, TILE_M);
  float sums[TILE_M][TILE_N];

  if (2 * rows <= TILE_M) {
    for (int i = 0; i < rows; ++i) {
      __global const MEMORY_lhs* row = lhs + (m0 + i) * K;
      vector sum[TILE_VECTORS];
#pragma unroll
      for (int j = 0; j < TILE_VECTORS; ++j) sum[j] = 0.0f;
      for (int k = 0; k < K; ++k) {
#pragma unroll
        for (int j = 0; j < TILE_VECTORS; ++j) {
          sum[j] += number_at(row + k) * vector_at(panel + k * TILE_N + LANES * j);
        }
      }
#pragma unroll
      for (int j = 0; j < TILE_VECTORS; ++j) *(vector*)(sums[i] + LANES * j) = sum[j];
    }
  } else {
    tile_row row[TILE_M];
    vector sum[TILE_M][TILE_VECTORS];
    clear_tile(sum);
#if HOLDS_FLOATS(MEMORY_lhs)
#pragma unroll
    for (int i = 0; i < TILE_M; ++i) row[i] = lhs + (m0 + min(i, rows - 1)) * K;
    multiply_rows(sum, row, 1, panel, TILE_N, K);
#else
    float numbers[TILE_M][DEPTH];
#pragma unroll
    for (int i = 0; i < TILE_M; ++i) row[i] = numbers[i];
    for (int k = 0; k < K; k += DEPTH) {
      const int depth = min(K - k, DEPTH);
      for (int i = 0; i < TILE_M; ++i) widen(numbers[i], lhs + (m0 + min(i, rows - 1)) * K + k, 1, depth);
      multiply_rows(sum, row, 1, panel + k * TILE_N, TILE_N, depth);
    }
#endif
    keep_tile(sum, sums);
  }

  const int columns = min(N - n0, TILE_N);
  for (int i = 0; i < rows; ++i) {
    __global MEMORY_dst* out = dst + (m0 + i) * N_pad + n0;
    for (int c = 0; c < columns; ++c) put_number(out + c, EPILOGUE(sums[i][c], m0 + i, n0 + c));
  }
}
#undef DEPTH
