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
__kernel ATTRIBUTES void tile(ARGUMENTS) {
  const int m0 = get_global_id(0) * TILE_M;
  const int n0 = get_global_id(1) * TILE_N;
  __global const vector* panel = (__global const vector*)(rhs + n0 * K);
  const int rows = min(M - m0, TILE_M);
  float sums[TILE_M][TILE_N];

  if (2 * rows <= TILE_M) {
    for (int i = 0; i < rows; ++i) {
      __global const float* row = lhs + (m0 + i) * K;
      vector sum[TILE_VECTORS];
#pragma unroll
      for (int j = 0; j < TILE_VECTORS; ++j) sum[j] = 0.0f;
      for (int k = 0; k < K; ++k) {
#pragma unroll
        for (int j = 0; j < TILE_VECTORS; ++j) sum[j] += row[k] * panel[k * TILE_VECTORS + j];
      }
#pragma unroll
      for (int j = 0; j < TILE_VECTORS; ++j) *(vector*)(sums[i] + LANES * j) = sum[j];
    }
  } else {
    __global const float* row[TILE_M];
#pragma unroll
    for (int i = 0; i < TILE_M; ++i) row[i] = lhs + (m0 + min(i, rows - 1)) * K;
    vector sum[TILE_M][TILE_VECTORS];
    clear_tile(sum);
    multiply_rows(sum, row, 1, rhs + n0 * K, TILE_N, K);
    keep_tile(sum, sums);
  }

  const int columns = min(N - n0, TILE_N);
  for (int i = 0; i < rows; ++i) {
    __global float* out = dst + (m0 + i) * N_pad + n0;
    for (int c = 0; c < columns; ++c) out[c] = EPILOGUE(sums[i][c], m0 + i, n0 + c);
  }
}
