// SPDX-License-Identifier: Apache-2.0
//
// integer_gemm.quads: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]), for CPUs.
//
// Processors with VNNI multiply four pairs of bytes and add all products to a sum in one instruction (x86: vpdpbusd). So k
// goes in steps of four: a lane of a vector is four neighbours along k of one column.
//
//   lhs  R                m*K_pad + k
//   rhs  C_4_{TILE_N}_C   (n/TILE_N)*(TILE_N*K_pad) + (k/4)*(4*TILE_N) + (n%TILE_N)*4 + k%4
//   dst(m, n)   through an accessor
//
//                        rhs        n              n+TILE_N
//                      k .. k+3 [L ][L ][L ][L ]            L = LANES quads of bytes
//        lhs   k .. k+3             |   |   |   |
//        m        xxxx  -------->  [L ][L ][L ][L ]         sums of 32 bits
//        m+TILE_M xxxx  -------->  [L ][L ][L ][L ]
//
// The instruction multiplies unsigned bytes by signed ones. Where both operands are signed, or neither is, rhs changes its
// sign: its upper bits flip, which adds 128 to each number or takes that away. The sum of a row of lhs makes up for it:
//   u8, u8:  sum a*b = sum a*(b - 128) + 128 * sum a
//   i8, i8:  sum a*b = sum a*(b + 128) - 128 * sum a
// All of it is exact: what leaves 32 bits on the way comes back.
//
// Edges: rows beyond M read row M - 1, and are not stored. Behind the last whole quad, bytes of lhs beyond K become 0.
// Tunables: LANES, columns of a vector, as many as the device has floats in one; TILE_M rows and TILE_N columns (a multiple
// of LANES) of the tile; BYTE_PRODUCTS, whether the instruction is there: the processor's description says so, and a
// process that tried it lived. That a compiler takes it says nothing.
// Source: the processors' manuals; gemmlowp's formats (G16) with cells of depth 4.

__kernel ATTRIBUTES void integer_quads(ARGUMENTS) {
  const int m0 = get_global_id(0) * TILE_M;
  const int n0 = get_global_id(1) * TILE_N;
  const int rows = min(M - m0, TILE_M);
  const int columns = min(TILE_N, N - n0);
  int sums[TILE_M][TILE_N];
  find_tile_of_sums(lhs + m0 * K_pad, rhs + n0 * K_pad, rows, K, K_pad, &sums[0][0]);
  for (int i = 0; i < rows; ++i) {
    for (int n = 0; n < columns; ++n) STORE_dst(m0 + i, n0 + n, EPILOGUE(sums[i][n], m0 + i, n0 + n));
  }
}
