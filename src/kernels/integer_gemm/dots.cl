// SPDX-License-Identifier: Apache-2.0
//
// integer_gemm.dots: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]), of few columns, for CPUs.
//
//   lhs  R   m*K_pad + k
//   rhs  C   n*K_pad + k
//   dst(m, n)   through an accessor
//
//                rhs, column n   k [L quads][L quads] ...
//                                     |         |
//        lhs, row m              k [L quads][L quads] ...    a vector of sums for each row: L lanes of four products each,
//             row m+ROWS-1         [L quads][L quads] ...    added up at the end
//
// With one column or a few every byte of lhs is read once and multiplied at once: nothing is packed. ROWS rows share the
// bytes of a column. The multiplication is that of quads.cl (byte_dots.clh): unsigned bytes times signed ones. Where both
// operands are signed, or neither is, those of rhs change their sign, and the sums of the rows of lhs make up for it.
//
// Edges: rows beyond M read the last one again, and are not stored. Behind the last whole vector bytes go one by one.
// Tunables: LANES, as many as the device has floats in a vector; ROWS; BYTE_PRODUCTS, as in quads.cl; GROUPS, work-items for
// each compute unit at most.
__kernel ATTRIBUTES void integer_dots(ARGUMENTS) {
  const int tiles = (M + ROWS - 1) / ROWS;
  const int last = share(tiles, get_global_id(0) + 1, get_global_size(0));
  for (int tile = share(tiles, get_global_id(0), get_global_size(0)); tile < last; ++tile) {
    const int m0 = tile * ROWS;
    const int rows = min(ROWS, M - m0);
    for (int n = 0; n < N; ++n) {
      int sums[ROWS];
      find_dots(lhs + m0 * K_pad, rhs + n * K_pad, rows, K, K_pad, sums);
      for (int i = 0; i < rows; ++i) STORE_dst(m0 + i, n, EPILOGUE(sums[i], m0 + i, n));
    }
  }
}
