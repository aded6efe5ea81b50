// SPDX-License-Identifier: Apache-2.0
//
// gemm.blocks: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]), for CPUs, where sixteen rows of rhs
// and of dst lie together, as channels do in conv2d.pointwise_64 and its kin: the products of Winograd's
// algorithm between transforms that work on blocks of channels
//
//   lhs  R_16_1_C   (m/16*K_pad + k)*16 + m%16, K_pad = K rounded up to 16
//   rhs  R_16_*_C   (k/16*N + n)*16 + k%16
//   dst  R_16_*_C   (m/16*N + n)*16 + m%16
//
//                            lhs
//                            m0        m0+16*BLOCKS
//                          k [16][16][16][16]        BLOCKS vectors are loaded
//        rhs, 16 of k          |   |   |   |
//              k               v   v   v   v
//        n     x     ---->   [16][16][16][16]        COLUMNS numbers, one of each column, are multiplied
//        n+1   x     ---->   [16][16][16][16]        with all of them
//        n+2   x     ---->   [16][16][16][16]        BLOCKS * COLUMNS accumulators
//
// A work-item takes many tiles of columns for the same rows of lhs, which stay in its cache, DEPTH of K at
// a time; where K is more the sums wait in dst meanwhile. The last columns, fewer than COLUMNS, are copied
// to `patch` on the way, the last one in place of those that do not exist.
//
// Tunables: BLOCKS of rows and COLUMNS of a tile; DEPTH, a multiple of 16; how many work-items share the
// columns is the global size.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory; memory
// covers M and K rounded up to 16, whatever it holds there.
// `a * b + c` is left to the compiler to contract into one operation: PoCL's mad() is two.
#if DEPTH % 16 != 0
#error "gemm.blocks: DEPTH must be a multiple of 16"
#endif

// sum[c][b] += one k of COLUMNS columns, in the block of rows that begins at `columns`.
#define STEP(columns, i)                                                                       \
  do {                                                                                         \
    sixteen factor[BLOCKS];                                                                    \
    _Pragma("unroll") for (int b = 0; b < BLOCKS; ++b) {                                       \
      factor[b] = *(__global const sixteen*)(factors[b] + (i) * 16);                           \
    }                                                                                          \
    _Pragma("unroll") for (int c = 0; c < COLUMNS; ++c) {                                      \
      const float scalar = (columns)[c * 16 + (i)];                                            \
      _Pragma("unroll") for (int b = 0; b < BLOCKS; ++b) sum[c][b] += scalar * factor[b];      \
    }                                                                                          \
  } while (0)
#define MULTIPLY(columns)                                                                      \
  do {                                                                                         \
    int i0 = 0;                                                                                \
    for (; i0 + 8 <= depth; i0 += 8) {                                                         \
      _Pragma("unroll") for (int i = 0; i < 8; ++i) STEP(columns, i0 + i);                     \
    }                                                                                          \
    for (; i0 < depth; ++i0) STEP(columns, i0);                                                \
  } while (0)

__kernel ATTRIBUTES void gemm_blocks(ARGUMENTS) {
  // Sixteen floats that may start at any float, where OpenCL's float16 starts at 64 bytes only.
  typedef float sixteen __attribute__((ext_vector_type(16), aligned(4)));
  __local float patch[COLUMNS * 16];
  __local float sums[BLOCKS * COLUMNS * 16];
  const int all_blocks = (M + 15) / 16;
  const int tiles = (N + COLUMNS - 1) / COLUMNS;
  const int items = get_global_size(0);
  const int first_tile = (int)((long)tiles * get_global_id(0) / items);
  const int last_tile = (int)((long)tiles * (get_global_id(0) + 1) / items);
  const int b0 = get_global_id(1) * BLOCKS;
  const int blocks = min(all_blocks - b0, BLOCKS);

  for (int k0 = 0; k0 < K; k0 += DEPTH) {
    const int k_end = min(k0 + DEPTH, K);
    for (int tile = first_tile; tile < last_tile; ++tile) {
      const int n0 = tile * COLUMNS;
      const int count = min(N - n0, COLUMNS);
      __global float* to = dst + (b0 * N + n0) * 16;

      sixteen sum[COLUMNS][BLOCKS];
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) {
#pragma unroll
        for (int b = 0; b < BLOCKS; ++b) {
          sum[c][b] = 0.0f;
          if (k0 > 0) {
            const int at = min(b, blocks - 1) * N + min(c, count - 1);
            sum[c][b] = *(__global const sixteen*)(to + at * 16);
          }
        }
      }
      for (int k = k0; k < k_end; k += 16) {
        __global const float* from = rhs + (k / 16 * N + n0) * 16;
        const int depth = min(K - k, 16);
        __global const float* factors[BLOCKS];
#pragma unroll
        for (int b = 0; b < BLOCKS; ++b) {
          factors[b] = lhs + ((b0 + min(b, blocks - 1)) * K_pad + k) * 16;
        }
        if (count == COLUMNS) {
          MULTIPLY(from);
        } else {
          for (int c = 0; c < COLUMNS; ++c) {
            *(__local sixteen*)(patch + c * 16) =
                *(__global const sixteen*)(from + min(c, count - 1) * 16);
          }
          MULTIPLY(patch);
        }
      }

#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) {
#pragma unroll
        for (int b = 0; b < BLOCKS; ++b) {
          *(__local sixteen*)(sums + (c * BLOCKS + b) * 16) = sum[c][b];
        }
      }
      // The text of the epilogue stands in one loop: it may be long, and PoCL compiles every copy.
      for (int b = 0; b < blocks; ++b) {
        for (int c = 0; c < count; ++c) {
          __local float* found = sums + (c * BLOCKS + b) * 16;
          // The mask takes nothing away; it tells the compiler that m is a multiple of 16 and not
          // negative, so that EPILOGUE reads neighbours.
          const int m = (b0 + b) * 16 & 0xfffff0;
          sixteen result = *(__local const sixteen*)found;
          if (k_end == K) {
            if (m + 16 <= M) {
#pragma unroll
              for (int l = 0; l < 16; ++l) result[l] = EPILOGUE(result[l], m + l, n0 + c);
            } else {
              for (int l = 0; l < M - m; ++l) {
                const float value = found[l];
                found[l] = EPILOGUE(value, m + l, n0 + c);
              }
              result = *(__local const sixteen*)found;
            }
          }
          *(__global sixteen*)(to + (b * N + c) * 16) = result;
        }
      }
    }
  }
}
#undef STEP
#undef MULTIPLY
