// SPDX-License-Identifier: Apache-2.0
//
// gemm.blocks: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]), for CPUs, where L rows of rhs
// and of dst lie together, as channels do in conv2d.pointwise_64 and its kin: the products of Winograd's
// algorithm between transforms that work on blocks of channels
//
//   lhs  R_{L}_1_C   (m/L*K_pad + k)*L + m%L, K_pad = K rounded up to L
//   rhs  R_{L}_*_C   (k/L*N + n)*L + k%L
//   dst  R_{L}_*_C   (m/L*N + n)*L + m%L
//
//                            lhs
//                            m0        m0+L*BLOCKS
//                          k [L ][L ][L ][L ]        BLOCKS vectors are loaded
//        rhs, L of k           |   |   |   |
//              k               v   v   v   v
//        n     x     ---->   [L ][L ][L ][L ]        COLUMNS numbers, one of each column, are multiplied
//        n+1   x     ---->   [L ][L ][L ][L ]        with all of them
//        n+2   x     ---->   [L ][L ][L ][L ]        BLOCKS * COLUMNS accumulators
//
// A work-item takes many tiles of columns for the same rows of lhs, which stay in its cache, DEPTH of K at
// a time; where K is more the sums wait in dst meanwhile. The last columns, fewer than COLUMNS, are copied
// to `patch` on the way, the last one in place of those that do not exist.
//
// Tunables: LANES, the L above: floats of a vector;
// BLOCKS of rows and COLUMNS of a tile; DEPTH, a multiple of LANES; how many work-items share the
// columns is the global size.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory; memory
// covers M and K rounded up to L, whatever it holds there.
// `a * b + c` is left to the compiler to contract into one operation: PoCL's mad() is two.
#if DEPTH % LANES != 0
#error "gemm.blocks: DEPTH must be a multiple of LANES"
#endif

// Steps of k that are unrolled.
#define UNROLLED (LANES < 8 ? LANES : 8)
// sum[c][b] += one k of COLUMNS columns, in the block of rows that begins at `columns`.
#define STEP(columns, i)                                                                  \
  do {                                                                                    \
    vector factor[BLOCKS];                                                                \
    _Pragma("unroll") for (int b = 0; b < BLOCKS; ++b) {                                  \
      factor[b] = vector_at(factors[b] + (i) * LANES);                                    \
    }                                                                                     \
    _Pragma("unroll") for (int c = 0; c < COLUMNS; ++c) {                                 \
      const float scalar = number_at((columns) + c * LANES + (i));                        \
      _Pragma("unroll") for (int b = 0; b < BLOCKS; ++b) sum[c][b] += scalar * factor[b]; \
    }                                                                                     \
  } while (0)
#define MULTIPLY(columns)                                                         \
  do {                                                                            \
    int i0 = 0;                                                                   \
    for (; i0 + UNROLLED <= depth; i0 += UNROLLED) {                              \
      _Pragma("unroll") for (int i = 0; i < UNROLLED; ++i) STEP(columns, i0 + i); \
    }                                                                             \
    for (; i0 < depth; ++i0) STEP(columns, i0);                                   \
  } while (0)

__kernel ATTRIBUTES void gemm_blocks(ARGUMENTS) {
  __local float patch[COLUMNS * LANES];
  __local float sums[BLOCKS * COLUMNS * LANES];
  const int all_blocks = (M + LANES - 1) / LANES;
  const int tiles = (N + COLUMNS - 1) / COLUMNS;
  const int items = get_global_size(0);
  const int first_tile = (int)((long)tiles * get_global_id(0) / items);
  const int last_tile = (int)((long)tiles * (get_global_id(0) + 1) / items);
  const int b0 = get_global_id(1) * BLOCKS;
  const int blocks = min(all_blocks - b0, BLOCKS);

  // Sums wait in dst, which must not round them; numbers of columns are read one by one, which takes floats.
  const int kept = sizeof(*dst) == sizeof(float) ? DEPTH : K;
  const int is_float = sizeof(*rhs) == sizeof(float);

  for (int k0 = 0; k0 < K; k0 += kept) {
    const int k_end = min(k0 + kept, K);
    for (int tile = first_tile; tile < last_tile; ++tile) {
      const int n0 = tile * COLUMNS;
      const int count = min(N - n0, COLUMNS);
      __global MEMORY_dst* to = dst + (b0 * N + n0) * LANES;

      vector sum[COLUMNS][BLOCKS];
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) {
#pragma unroll
        for (int b = 0; b < BLOCKS; ++b) {
          sum[c][b] = 0.0f;
          if (k0 > 0) {
            const int at = min(b, blocks - 1) * N + min(c, count - 1);
            sum[c][b] = vector_at(to + at * LANES);
          }
        }
      }
      for (int k = k0; k < k_end; k += LANES) {
        __global const MEMORY_rhs* from = rhs + (k / LANES * N + n0) * LANES;
        const int depth = min(K - k, LANES);
        __global const MEMORY_lhs* factors[BLOCKS];
#pragma unroll
        for (int b = 0; b < BLOCKS; ++b) {
          factors[b] = lhs + ((b0 + min(b, blocks - 1)) * K_pad + k) * LANES;
        }
        if (is_float && count == COLUMNS) {
          MULTIPLY(from);
        } else {
          for (int c = 0; c < COLUMNS; ++c) {
            *(__local vector*)(patch + c * LANES) = vector_at(from + min(c, count - 1) * LANES);
          }
          MULTIPLY(patch);
        }
      }

#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) {
#pragma unroll
        for (int b = 0; b < BLOCKS; ++b) {
          *(__local vector*)(sums + (c * BLOCKS + b) * LANES) = sum[c][b];
        }
      }
      // The text of the epilogue stands in one loop: it may be long, and PoCL compiles every copy.
      for (int b = 0; b < blocks; ++b) {
        for (int c = 0; c < count; ++c) {
          vector result = *(__local const vector*)(sums + (c * BLOCKS + b) * LANES);
          const int m = (b0 + b) * LANES;
          if (k_end == K) {
            result = FINISHED_LANES(m, M, EPILOGUE_VECTOR(result, m, n0 + c),
                                    EPILOGUE_EDGE(result, m, n0 + c));
          }
          put_vector(to + (b * N + c) * LANES, result);
        }
      }
    }
  }
}
#undef STEP
#undef MULTIPLY
#undef UNROLLED
