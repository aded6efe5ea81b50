// SPDX-License-Identifier: Apache-2.0
//
// gemm.row_dots: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]), for CPUs: each element by
// itself, along k. It is made for a matrix times a vector.
//
//   lhs  R   m*K + k
//   rhs  C   n*K + k
//   dst  R   m*N + n
//
//              k             k+L            k+2L
//   rhs  n    [ L numbers  ][ L numbers  ]        one step: two vectors of the column are loaded, and
//                  |              |               two of each row
//              k   v              v
//   lhs  m    [ L numbers  ][ L numbers  ]
//        m+a  [ L numbers  ][ L numbers  ]        PATCH_M rows, a apart, each with two vectors
//        .    [ L numbers  ][ L numbers  ]        of sums; their 2L numbers are added up at the end
//
// Where N is 1, each number of lhs is used once and memory is the limit: the rows of a patch share what
// is loaded of rhs, and keep several streams of memory busy.
//
// A work-group is one work-item, which computes ROWS rows of a column, in PATCH_M runs of neighbours: a
// patch has one row of each run, so a stream goes on where the patch before ended. Columns come first:
// the next one finds the rows in the cache. gemm.row_dots_32 has longer runs, for rows that come from
// memory; gemm.row_dots has more work-groups.
//
// Edges: in place of rows that do not exist the last one is read; the last terms of a sum, fewer than L,
// are added one by one.
//
// Tunables: LANES, the L above: floats of a vector; ROWS of a work-item (a multiple of PATCH_M), PATCH_M of them
// at a time.
// `a * b + c` is left to the compiler to contract into one operation: PoCL's mad() is two.
#if ROWS % PATCH_M != 0
#error "gemm.row_dots: ROWS must be a multiple of PATCH_M"
#endif

__kernel ATTRIBUTES void row_dots(ARGUMENTS) {
  const int n = get_global_id(0);
  const int first = get_global_id(1) * ROWS;
  const int end = min(first + ROWS, M);
  __global const MEMORY_rhs* column = rhs + n * K;
  const int apart = (end - first + PATCH_M - 1) / PATCH_M;
  for (int m = first; m < first + apart; ++m) {
    __global const MEMORY_lhs* row[PATCH_M];
    vector even[PATCH_M];
    vector odd[PATCH_M];
#pragma unroll
    for (int i = 0; i < PATCH_M; ++i) {
      row[i] = lhs + min(m + i * apart, end - 1) * K;
      even[i] = 0.0f;
      odd[i] = 0.0f;
    }
    int k = 0;
    for (; k + 2 * LANES <= K; k += 2 * LANES) {
      const vector left = vector_at(column + k);
      const vector right = vector_at(column + k + LANES);
#pragma unroll
      for (int i = 0; i < PATCH_M; ++i) {
        even[i] += vector_at(row[i] + k) * left;
        odd[i] += vector_at(row[i] + k + LANES) * right;
      }
    }
    if (k + LANES <= K) {
      const vector left = vector_at(column + k);
#pragma unroll
      for (int i = 0; i < PATCH_M; ++i) even[i] += vector_at(row[i] + k) * left;
      k += LANES;
    }
    float sums[PATCH_M];
#pragma unroll
    for (int i = 0; i < PATCH_M; ++i) {
      sums[i] = sum_of(even[i] + odd[i]);
    }
    for (; k < K; ++k) {
#pragma unroll
      for (int i = 0; i < PATCH_M; ++i) sums[i] += number_at(row[i] + k) * number_at(column + k);
    }
    for (int i = 0; i < PATCH_M && m + i * apart < end; ++i) {
      put_number(dst + (m + i * apart) * N + n, EPILOGUE(sums[i], m + i * apart, n));
    }
  }
}
