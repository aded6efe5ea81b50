// SPDX-License-Identifier: Apache-2.0
//
// gemm.c18_v2, gemm.c18_v2_f16: dst[m,n] = sum over k of lhs[m,k] * rhs[k,n], through tiles in local memory.
//
//   lhs  R   m*K + k
//   rhs  R   k*N + n
//   dst  R   m*N + n
//
//                          rhs   n0   n0+TILE
//                            k0  [::::]           a work-group of TILE x TILE work-items computes a tile of
//                       k0+TILE  [::::]           dst. In each step they copy one tile of lhs and one of rhs
//        lhs  k0   k0+TILE                        to local memory, an element each, and every element that
//         m0  [::::]             [tile]           was read from global memory is used TILE times
//    m0+TILE  [::::]             [    ]
//
// Beyond M, N and K a zero is copied, so that no extent need be a multiple of TILE; the source's own
// kernel is wrong there.
//
// Tunables: TILE, the side of a tile.
// Source: C18, section VII.C.2 (kernel version 2, 16 x 16; its text is not printed).
__kernel ATTRIBUTES void c18_v2(ARGUMENTS) {
  __local float lhs_tile[TILE][TILE];
  __local float rhs_tile[TILE][TILE];
  const int n = get_global_id(0);
  const int m = get_global_id(1);
  const int column = get_local_id(0);
  const int row = get_local_id(1);
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += TILE) {
    lhs_tile[row][column] = m < M && k0 + column < K ? AT_lhs(m * K + k0 + column) : 0.0f;
    rhs_tile[row][column] = n < N && k0 + row < K ? AT_rhs((k0 + row) * N + n) : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; ++k) sum += lhs_tile[row][k] * rhs_tile[k][column];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (m < M && n < N) PUT_dst(m * N + n, sum);
}
