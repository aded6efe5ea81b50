// SPDX-License-Identifier: Apache-2.0
//
// gemm.tile_filters: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]), for CPUs, where lhs are
// weights, which are packed once.
//
// As gemm.tile_copied, but for lhs: the numbers that one step of a tile multiplies with lie together.
//
//   lhs  R_{TILE_M}_1_C   (m/TILE_M)*(K*TILE_M) + k*TILE_M + m%TILE_M
//   rhs  R                k*N + n
//   dst  R                m*N + n
//
//                                rhs: from one row to the next it is N elements
//        lhs, a tile of rows:    n            n+TILE_N
//        one stream         k .. [L ][L ][L ].. ---> panel[k]     left behind by the first tile
//             k   k+1              |   |   |           |
//        m    x   x                v   v   v           |
//        .    x   x    ----->    [L ][L ][L ]          |          first tile: TILE_M * TILE_N/L
//        .    x   x    ----->    [L ][L ][L ]          |          accumulators
//                                  ^   ^   ^           |
//        the next tile of rows   [L ][L ][L ]  <-------+          second tile, third ... to the end of
//                                [L ][L ][L ]                     the band
//
// TILE_M rows of K floats each are TILE_M streams, which is more than a processor reads ahead; with
// thousands of rows and few columns (the last layers of a network) they are what the product waits for.
//
// The panel is DEPTH rows deep at most. Where K is more, the band is gone through once for each DEPTH,
// and its sums wait in `sums` meanwhile.
//
// Work-groups down the rows come first, so those that follow each other find rhs in the cache. The
// last columns, if they are fewer than TILE_N, come before all others: they cost less, and what is
// left for the end is then of one size. They are copied to a panel padded with zeros, and computed in
// vectors of L, one after the other.
//
// Edges: the rows that pad lhs are computed from whatever is there, and not stored.
//
// Tunables: LANES, the L above: floats of a vector;
// TILE_M rows and TILE_N columns (a multiple of LANES) of the tile; BAND_M rows of a band at most
// (a multiple of TILE_M); DEPTH rows of the panel. How many bands there are is the global size.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory;
// memory of lhs covers M rounded up to TILE_M, whatever it holds there.
// `a * b + c` is left to the compiler to contract into one operation: PoCL's mad() is two.
#if TILE_N % LANES != 0 || BAND_M % TILE_M != 0
#error "gemm.tile_filters: TILE_N must be a multiple of LANES, BAND_M of TILE_M"
#endif
#define TILE_VECTORS (TILE_N / LANES)

__kernel ATTRIBUTES void tile_filters(ARGUMENTS) {
  // LANES floats at any float's address: OpenCL's vectors start at multiples of their size.
  typedef float tile_row __attribute__((ext_vector_type(LANES), aligned(4)));
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
        __global const float* across = rhs + (k0 + k) * N + n0;
        __local float* copy = panel + k * TILE_N;
        int c = 0;
        for (; c + LANES <= columns; c += LANES) {
          *(__local tile_row*)(copy + c) = *(__global const tile_row*)(across + c);
        }
        for (; c < columns; ++c) copy[c] = across[c];
        for (; c % LANES != 0; ++c) copy[c] = 0.0f;
      }
    }
    for (int t = 0; t < rows; t += TILE_M) {
      __global const float* filters = lhs + (m0 + t) * K + k0 * TILE_M;
      if (columns == TILE_N) {
        tile_row sum[TILE_M][TILE_VECTORS];
#pragma unroll
        for (int i = 0; i < TILE_M; ++i) {
#pragma unroll
          for (int j = 0; j < TILE_VECTORS; ++j) {
            sum[i][j] = 0.0f;
            if (k0 > 0) sum[i][j] = *(__local const tile_row*)(sums + (t + i) * TILE_N + LANES * j);
          }
        }
        if (t == 0) {
          __global const float* across = rhs + k0 * N + n0;
          for (int k = 0; k < depth; ++k) {
            tile_row found[TILE_VECTORS];
#pragma unroll
            for (int j = 0; j < TILE_VECTORS; ++j) {
              found[j] = *(__global const tile_row*)(across + k * N + LANES * j);
              *(__local tile_row*)(panel + k * TILE_N + LANES * j) = found[j];
            }
#pragma unroll
            for (int i = 0; i < TILE_M; ++i) {
              const float scalar = filters[k * TILE_M + i];
#pragma unroll
              for (int j = 0; j < TILE_VECTORS; ++j) sum[i][j] += scalar * found[j];
            }
          }
        } else {
          for (int k = 0; k < depth; ++k) {
#pragma unroll
            for (int i = 0; i < TILE_M; ++i) {
              const float scalar = filters[k * TILE_M + i];
#pragma unroll
              for (int j = 0; j < TILE_VECTORS; ++j) {
                sum[i][j] += scalar * *(__local const tile_row*)(panel + k * TILE_N + LANES * j);
              }
            }
          }
        }
#pragma unroll
        for (int i = 0; i < TILE_M; ++i) {
#pragma unroll
          for (int j = 0; j < TILE_VECTORS; ++j) {
            *(__local tile_row*)(sums + (t + i) * TILE_N + LANES * j) = sum[i][j];
          }
        }
      } else {
        for (int c = 0; c < columns; c += LANES) {
          tile_row sum[TILE_M];
#pragma unroll
          for (int i = 0; i < TILE_M; ++i) {
            sum[i] = 0.0f;
            if (k0 > 0) sum[i] = *(__local const tile_row*)(sums + (t + i) * TILE_N + c);
          }
          for (int k = 0; k < depth; ++k) {
            const tile_row across = *(__local const tile_row*)(panel + k * TILE_N + c);
#pragma unroll
            for (int i = 0; i < TILE_M; ++i) sum[i] += filters[k * TILE_M + i] * across;
          }
#pragma unroll
          for (int i = 0; i < TILE_M; ++i) {
            *(__local tile_row*)(sums + (t + i) * TILE_N + c) = sum[i];
          }
        }
      }
      if (k0 + DEPTH < K) continue;
      // The text of the epilogue stands once: it may be long, and PoCL compiles every copy.
      for (int i = t; i < min(t + TILE_M, rows); ++i) {
        __global float* out = dst + (m0 + i) * N + n0;
        for (int c = 0; c < columns; ++c) {
          out[c] = EPILOGUE(sums[i * TILE_N + c], m0 + i, n0 + c);
        }
      }
    }
  }
}
#undef TILE_VECTORS
