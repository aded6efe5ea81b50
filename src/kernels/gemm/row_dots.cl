// SPDX-License-Identifier: Apache-2.0
//
// gemm.row_dots: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]), for CPUs: each element by
// itself, along k. It is made for a matrix times a vector.
//
//   lhs  R   m*K + k
//   rhs  C   n*K + k
//   dst  R   m*N + n
//
//              k              k+16            k+32
//   rhs  n    [ 16 numbers  ][ 16 numbers  ]        one step: two vectors of the column are loaded, and
//                  |               |                two of each row
//              k   v               v
//   lhs  m    [ 16 numbers  ][ 16 numbers  ]
//        m+1  [ 16 numbers  ][ 16 numbers  ]        PATCH_M rows side by side, each with two vectors
//        .    [ 16 numbers  ][ 16 numbers  ]        of sums; their 32 numbers are added up at the end
//
// Where N is 1, each number of lhs is used once and memory is the limit: the rows side by side share
// what is loaded of rhs, and keep several streams of memory busy.
//
// A work-group is one work-item, which computes ROWS rows of a column, PATCH_M at a time. Columns come
// first: the next one finds the rows in the cache.
//
// Edges: in place of rows that do not exist row M - 1 is read; the last terms of a sum, fewer than 16,
// are added one by one.
//
// Tunables: ROWS of a work-item (a multiple of PATCH_M), PATCH_M of them at a time.
// `a * b + c` is left to the compiler to contract into one operation: PoCL's mad() is two.
#if ROWS % PATCH_M != 0
#error "gemm.row_dots: ROWS must be a multiple of PATCH_M"
#endif

__kernel ATTRIBUTES void row_dots(ARGUMENTS) {
  // Sixteen floats that may start at any float, where OpenCL's float16 starts at 64 bytes only.
  typedef float sixteen __attribute__((ext_vector_type(16), aligned(4)));
  const int n = get_global_id(0);
  const int first = get_global_id(1) * ROWS;
  const int end = min(first + ROWS, M);
  __global const float* column = rhs + n * K;
  for (int m = first; m < end; m += PATCH_M) {
    __global const float* row[PATCH_M];
    sixteen even[PATCH_M];
    sixteen odd[PATCH_M];
#pragma unroll
    for (int i = 0; i < PATCH_M; ++i) {
      row[i] = lhs + min(m + i, M - 1) * K;
      even[i] = 0.0f;
      odd[i] = 0.0f;
    }
    int k = 0;
    for (; k + 32 <= K; k += 32) {
      const sixteen left = *(__global const sixteen*)(column + k);
      const sixteen right = *(__global const sixteen*)(column + k + 16);
#pragma unroll
      for (int i = 0; i < PATCH_M; ++i) {
        even[i] += *(__global const sixteen*)(row[i] + k) * left;
        odd[i] += *(__global const sixteen*)(row[i] + k + 16) * right;
      }
    }
    if (k + 16 <= K) {
      const sixteen left = *(__global const sixteen*)(column + k);
#pragma unroll
      for (int i = 0; i < PATCH_M; ++i) even[i] += *(__global const sixteen*)(row[i] + k) * left;
      k += 16;
    }
    float sums[PATCH_M];
#pragma unroll
    for (int i = 0; i < PATCH_M; ++i) {
      const sixteen all = even[i] + odd[i];
      const float8 eight = all.lo + all.hi;
      const float4 four = eight.lo + eight.hi;
      const float2 two = four.lo + four.hi;
      sums[i] = two.x + two.y;
    }
    for (; k < K; ++k) {
#pragma unroll
      for (int i = 0; i < PATCH_M; ++i) sums[i] += row[i][k] * column[k];
    }
    for (int i = 0; i < min(PATCH_M, end - m); ++i) {
      dst[(m + i) * N + n] = EPILOGUE(sums[i], m + i, n);
    }
  }
}
