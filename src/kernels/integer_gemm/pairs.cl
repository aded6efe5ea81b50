// SPDX-License-Identifier: Apache-2.0
//
// integer_gemm.pairs: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]), for CPUs.
//
// Processors multiply two pairs of 16-bit numbers and add both products in one instruction (x86: pmaddwd). So k goes in
// steps of two: a lane of a vector is one column's pair.
//
//   lhs  R                m*K_pad + k
//   rhs  C_2_{TILE_N}_C   (n/TILE_N)*(TILE_N*K_pad) + (k/2)*(2*TILE_N) + (n%TILE_N)*2 + k%2
//   dst(m, n)   through an accessor
//
//                        rhs        n              n+TILE_N
//                           k, k+1 [L ][L ][L ][L ]         L = LANES pairs, widened to 16 bits
//        lhs     k k+1              |   |   |   |
//        m        xx  ---------->  [L ][L ][L ][L ]         sums of 32 bits
//        m+TILE_M xx  ---------->  [L ][L ][L ][L ]
//
// Bytes of lhs are widened before, BLOCK of each row at a time: a pair of 16-bit numbers is then 4 bytes in memory, which
// one load spreads over a vector.
//
// Edges: rows beyond M read row M - 1, and are not stored. Behind an odd K a 0 takes the place of lhs's padding.
// Tunables: LANES, columns of a vector, as many as the device has floats in one; TILE_M rows and TILE_N columns (a multiple
// of LANES) of the tile.
// Source: gemmlowp's formats (G16) have cells of depth 2 for the same reason.
#define PAIRS (TILE_N / LANES)
#define BLOCK 256  // even: a pair does not lie in two blocks
#define CHUNK 16
// In each lane the sum of the products of a pair. LLVM 14 makes pmaddwd of plain C for halves of a vector only, which
// takes twice as long. Elsewhere vectors have 16 elements at most, so that a lane's pair is two vectors.
#if LANES == 16 && defined(__AVX512BW__)
#define SUMS_OF_PRODUCTS(a, b) __builtin_ia32_pmaddwd512(a, b)
#elif LANES == 8 && defined(__AVX2__)
#define SUMS_OF_PRODUCTS(a, b) __builtin_ia32_pmaddwd256(a, b)
#elif LANES == 4 && defined(__SSE2__)
#define SUMS_OF_PRODUCTS(a, b) __builtin_ia32_pmaddwd128(a, b)
#endif

__kernel ATTRIBUTES void integer_pairs(ARGUMENTS) {
  typedef TYPE_lhs lhs_bytes __attribute__((ext_vector_type(CHUNK), aligned(1)));
  typedef short lhs_numbers __attribute__((ext_vector_type(CHUNK), aligned(2)));
  typedef int lanes_of_int __attribute__((ext_vector_type(LANES), aligned(4)));
#ifdef SUMS_OF_PRODUCTS
  typedef TYPE_rhs rhs_bytes __attribute__((ext_vector_type(2 * LANES), aligned(1)));
  typedef short pairs __attribute__((ext_vector_type(2 * LANES)));
  typedef short one_pair __attribute__((ext_vector_type(2), aligned(2)));
#else
  typedef ushort two_bytes __attribute__((ext_vector_type(LANES), aligned(1)));
  const int sign = (TYPE_rhs)-1 < 0 ? 128 : 0;
#endif

  const int m0 = get_global_id(0) * TILE_M;
  const int n0 = get_global_id(1) * TILE_N;
  const int rows = min(M - m0, TILE_M);
  __global const TYPE_rhs* step = rhs + n0 * K_pad;
  lanes_of_int sum[TILE_M][PAIRS];
#pragma unroll
  for (int i = 0; i < TILE_M; ++i) {
#pragma unroll
    for (int j = 0; j < PAIRS; ++j) sum[i][j] = 0;
  }
  short wide[TILE_M][BLOCK];
  for (int k0 = 0; k0 < K; k0 += BLOCK) {
    const int depth = min(BLOCK, K - k0);
    for (int i = 0; i < TILE_M; ++i) {
      __global const TYPE_lhs* row = lhs + (m0 + min(i, rows - 1)) * K_pad + k0;
      int k = 0;
      for (; k + CHUNK <= depth; k += CHUNK) {
        *(lhs_numbers*)(wide[i] + k) = __builtin_convertvector(*(__global const lhs_bytes*)(row + k), lhs_numbers);
      }
      for (; k < depth; ++k) wide[i][k] = row[k];
      if (depth % 2 != 0) wide[i][depth] = 0;
    }
    for (int k = 0; k < depth; k += 2, step += 2 * TILE_N) {
#ifdef SUMS_OF_PRODUCTS
      pairs across[PAIRS];
#pragma unroll
      for (int j = 0; j < PAIRS; ++j) {
        across[j] = __builtin_convertvector(*(__global const rhs_bytes*)(step + 2 * LANES * j), pairs);
      }
#pragma unroll
      for (int i = 0; i < TILE_M; ++i) {
        const lanes_of_int pair = __builtin_astype(*(const one_pair*)(wide[i] + k), int);
#pragma unroll
        for (int j = 0; j < PAIRS; ++j) sum[i][j] += SUMS_OF_PRODUCTS(__builtin_astype(pair, pairs), across[j]);
      }
#else
#pragma unroll
      for (int j = 0; j < PAIRS; ++j) {
        const lanes_of_int both =
            __builtin_convertvector(*(__global const two_bytes*)(step + 2 * LANES * j), lanes_of_int);
        const lanes_of_int first = ((both & 255) ^ sign) - sign;
        const lanes_of_int second = ((both >> 8) ^ sign) - sign;
#pragma unroll
        for (int i = 0; i < TILE_M; ++i) sum[i][j] += wide[i][k] * first + wide[i][k + 1] * second;
      }
#endif
    }
  }

  int sums[TILE_M][TILE_N];
#pragma unroll
  for (int i = 0; i < TILE_M; ++i) {
#pragma unroll
    for (int j = 0; j < PAIRS; ++j) *(lanes_of_int*)(sums[i] + LANES * j) = sum[i][j];
  }
  const int columns = min(TILE_N, N - n0);
  for (int i = 0; i < rows; ++i) {
    for (int n = 0; n < columns; ++n) STORE_dst(m0 + i, n0 + n, EPILOGUE(sums[i][n], m0 + i, n0 + n));
  }
}
#undef SUMS_OF_PRODUCTS
#undef CHUNK
#undef BLOCK
#undef PAIRS
