// SPDX-License-Identifier: Apache-2.0
//
// gemm.async_tile, gemm.async_tile_large, gemm.async_tile_low: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n])
// on NVIDIA GPUs, whose copies from global to local memory run by themselves.
//
//   lhs  C   k*M_pad + m
//   rhs  R   k*N_pad + n
//   dst  R   m*N_pad + n
//
// The tile of gemm.local_tile with changes that take work away from the work-items (shared/async_tile.clh). Both
// operands lie with k outermost, so nothing is transposed on the way: lhs is demanded column by column.
//
// The three differ in their values: gemm.async_tile_large has tiles of 256 x 128 and patches of 16 x 8, which is
// best where there are enough work-groups for all compute units, gemm.async_tile smaller ones, and
// gemm.async_tile_low tiles of 32 x 64, for products of few rows and where larger tiles are too few.
//
// Work-groups go down BAND tiles before they go right by one: those at work at the same time then share
// rows of lhs and columns of rhs, which stay in the second-level cache. With BAND = 1 they go along the rows.
//
// Tunables: TILE_M, TILE_N, TILE_K; PATCH_M, PATCH_N (multiples of 4); LANES_X of a warp; STAGES; BAND.
// Assumes: M_pad, N_pad, K_pad are multiples of the tile; lhs is zero where k >= K, rhs finite there. A
// driver that takes PTX within OpenCL C, for sm_80 or later.

// Starts the copies of the next step, if there is one, into the ring's place `stage`.
#define START_COPIES(stage)                                                            \
  {                                                                                    \
    if (k_copied < K_pad) {                                                            \
      _Pragma("unroll") for (int i = 0; i < LHS_VECTORS / ITEMS; ++i) {                \
        const int v = item + i * ITEMS;                                                \
        COPY(&ring[stage][v], lhs_vectors + (v / (TILE_M / 4)) * (M_pad / 4) + v % (TILE_M / 4)); \
      }                                                                                \
      _Pragma("unroll") for (int i = 0; i < RHS_VECTORS / ITEMS; ++i) {                \
        const int v = item + i * ITEMS;                                                \
        COPY(&ring[stage][LHS_VECTORS + v],                                            \
             rhs_vectors + (v / (TILE_N / 4)) * (N_pad / 4) + v % (TILE_N / 4));       \
      }                                                                                \
      lhs_vectors += TILE_K * (M_pad / 4);                                             \
      rhs_vectors += TILE_K * (N_pad / 4);                                             \
      k_copied += TILE_K;                                                              \
    }                                                                                  \
    COMMIT_COPIES;                                                                     \
  }

__kernel ATTRIBUTES void async_tile(ARGUMENTS) {
  DECLARE_TILE;
  // This work-group's tile: down a band of BAND rows of tiles before one to the right.
  const int first_row = get_group_id(1) / BAND * BAND;
  const int band_rows = min(BAND, (int)get_num_groups(1) - first_row);
  const int tiles_n = get_num_groups(0);
  const int within = ((int)get_group_id(1) - first_row) * tiles_n + (int)get_group_id(0);
  const int n0 = within / band_rows * TILE_N;
  const int m0 = (first_row + within % band_rows) * TILE_M;
  __global const float4* lhs_vectors = (__global const float4*)lhs + m0 / 4;
  __global const float4* rhs_vectors = (__global const float4*)rhs + n0 / 4;
  int k_copied = 0;
  SUM_PRODUCTS(K_pad);

  // The epilogue is applied in registers: read back from memory, the elements of products of few k took longer than the
  // products. Its text, which may be long, stands once for four neighbours.
  __global float* out = dst + (m0 + 4 * row) * N_pad + n0 + 4 * column;
#pragma unroll
  for (int i = 0; i < PATCH_M; ++i) {
    const int m = m0 + 4 * (row + i / 4 * LANES_Y) + i % 4;
#pragma unroll
    for (int j = 0; j < PATCH_N / 4; ++j) {
      const int n = n0 + 4 * (column + j * LANES_X);
      float4 four = sum[i][j];
      for (int t = 0; t < 4; ++t) {
        four.s0 = EPILOGUE(four.s0, m, n + t);
        four = four.s1230;
      }
      ((__global float4*)(out + (i / 4 * 4 * LANES_Y + i % 4) * N_pad))[j * LANES_X] = four;
    }
  }
}
#undef START_COPIES
