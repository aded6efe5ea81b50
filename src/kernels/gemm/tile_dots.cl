// SPDX-License-Identifier: Apache-2.0
//
// gemm.tile_dots: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]), for CPUs: a tile of elements, each
// along k. It is made for x times the transpose of weights, [N, K] as they lie, which forward passes compute.
//
//   lhs  R   m*K + k
//   rhs  C   n*K + k
//   dst  R   m*N + n
//
//                              rhs, columns as rows     n    [ L numbers ]
//                                                       n+1  [ L numbers ]   one step: a vector of each row and
//             k         k+L                             .    [ L numbers ]   column of the tile is loaded, and each
//   lhs  m    [ L numbers ]  --->  L sums for each of the    row multiplied by each column
//        m+1  [ L numbers ]        TILE_M x TILE_N elements
//        .    [ L numbers ]
//
// With 4 x 4 that is 8 loads for 16 multiply-adds, where gemm.row_dots has 18. At the end the L numbers of each
// element are added up, for a row of the tile at one time.
//
// A work-group is one work-item, which computes ROWS rows of TILE_N columns, TILE_M at a time.
//
// Edges: in place of rows and columns that do not exist the last ones are read. The last terms, fewer than L,
// come with those before them, which are set to zero in both operands; where K is below L, they are added one by
// one.
//
// Tunables: LANES, the L above: floats of a vector; TILE_M and TILE_N (4) of the tile; ROWS of a work-item (a
// multiple of TILE_M).
#if TILE_N != 4
#error "gemm.tile_dots: the sums of four columns are added up together"
#endif

// a0+a1, a2+a3, b0+b1, b2+b3. A literal of two vectors would say the same, but Oclgrind 21.10 crashes on it where it
// looks for uninitialised reads.
#define SUMS_OF_PAIRS(a, b) (__builtin_shufflevector(a, b, 0, 2, 4, 6) + __builtin_shufflevector(a, b, 1, 3, 5, 7))

__kernel ATTRIBUTES void tile_dots(ARGUMENTS) {
  const int n0 = get_global_id(0) * TILE_N;
  const int columns = min(N - n0, TILE_N);
  const int begin = get_global_id(1) * ROWS;
  const int end = min(begin + ROWS, M);
  const int left = K % LANES;
  __global const MEMORY_rhs* column[TILE_N];
#pragma unroll
  for (int j = 0; j < TILE_N; ++j) column[j] = rhs + (n0 + min(j, columns - 1)) * K;

  for (int m0 = begin; m0 < end; m0 += TILE_M) {
    const int rows = min(end - m0, TILE_M);
    __global const MEMORY_lhs* row[TILE_M];
    vector sum[TILE_M][TILE_N];
#pragma unroll
    for (int i = 0; i < TILE_M; ++i) {
      row[i] = lhs + (m0 + min(i, rows - 1)) * K;
#pragma unroll
      for (int j = 0; j < TILE_N; ++j) sum[i][j] = 0.0f;
    }
    for (int k = 0; k + LANES <= K; k += LANES) {
      vector across[TILE_N];
#pragma unroll
      for (int j = 0; j < TILE_N; ++j) across[j] = vector_at(column[j] + k);
#pragma unroll
      for (int i = 0; i < TILE_M; ++i) {
        const vector down = vector_at(row[i] + k);
#pragma unroll
        for (int j = 0; j < TILE_N; ++j) sum[i][j] += down * across[j];
      }
    }
    if (left > 0 && K >= LANES) {
      vector across[TILE_N];
#pragma unroll
      for (int j = 0; j < TILE_N; ++j) across[j] = last_of(vector_at(column[j] + K - LANES), left);
#pragma unroll
      for (int i = 0; i < TILE_M; ++i) {
        const vector down = last_of(vector_at(row[i] + K - LANES), left);
#pragma unroll
        for (int j = 0; j < TILE_N; ++j) sum[i][j] += down * across[j];
      }
    }

    // The epilogue's text, which may be long, stands once.
    float sums[TILE_M][TILE_N] __attribute__((aligned(16)));
#pragma unroll
    for (int i = 0; i < TILE_M; ++i) {
      float4 part[TILE_N];
#pragma unroll
      for (int j = 0; j < TILE_N; ++j) {
        part[j] = quarters_of(sum[i][j]);
      }
      const float4 left_sums = SUMS_OF_PAIRS(part[0], part[1]);
      const float4 right_sums = SUMS_OF_PAIRS(part[2], part[3]);
      *(float4*)sums[i] = SUMS_OF_PAIRS(left_sums, right_sums);
    }
    for (int k = 0; K < LANES && k < K; ++k) {
      for (int i = 0; i < TILE_M; ++i) {
        for (int j = 0; j < TILE_N; ++j) sums[i][j] += number_at(row[i] + k) * number_at(column[j] + k);
      }
    }
    for (int i = 0; i < rows; ++i) {
      __global MEMORY_dst* out = dst + (m0 + i) * N + n0;
      for (int j = 0; j < columns; ++j) put_number(out + j, EPILOGUE(sums[i][j], m0 + i, n0 + j));
    }
  }
}
#undef SUMS_OF_PAIRS
