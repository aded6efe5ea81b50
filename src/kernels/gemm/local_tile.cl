// SPDX-License-Identifier: Apache-2.0
//
// gemm.local_tile: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]), for GPUs with local memory
// of their own.
//
//   lhs  R   m*K_pad + k
//   rhs  R   k*N_pad + n
//   dst  R   m*N_pad + n
//
//                      n0     rhs      n0+TILE_N
//                     +------------------+            A work-group computes a tile of dst. In each
//                  k0 | TILE_K x TILE_N  |            step it holds TILE_K columns of lhs and as many
//                     +------------------+            rows of rhs in local memory, of which each
//         k0                                          work-item multiplies PATCH_M by PATCH_N elements
//   m0   +----+       [ .  x x x x .  .  ]            TILE_K times.
//   lhs  |    |       [ .  x x x x .  .  ]
//        |    |       [ .  .  .  . .  .  ]            The patch of a work-item is in pieces of 4 x 4:
//        +----+       [ .  .  .  . .  .  ]            piece (i, j) of item (x, y) begins at row
//   m0+TILE_M                                         4*(i*ITEMS_Y + y), column 4*(j*ITEMS_X + x), so
//                                                     that neighbours read neighbouring vectors.
//
// In local memory lhs lies k by k (transposed), rhs as it is, both as vectors of four:
//
//   lhs_tile[k][m/4]   a row has one vector more than needed: the four scalars that a vector of lhs
//   rhs_tile[k][n/4]   is scattered to, and those of its neighbours, then fall into different banks
//
// Two buffers take turns: while one is multiplied, the next step's values travel from global memory
// into registers; they are put into the other buffer after it, so one barrier for each step suffices.
//
// Work-groups go down BAND tiles before they go right by one: those at work at the same time then share
// rows of lhs and columns of rhs, which stay in the second-level cache. With BAND = 1 they go along the rows.
//
// Tunables: TILE_M, TILE_N, TILE_K; PATCH_M, PATCH_N (multiples of 4 that divide the tile); BAND.
// Assumes: M_pad, N_pad, K_pad are multiples of the tile; lhs is zero where k >= K, rhs finite there.
#if TILE_K % 4 != 0 || PATCH_M % 4 != 0 || PATCH_N % 4 != 0
#error "gemm.local_tile: TILE_K, PATCH_M and PATCH_N must be multiples of 4"
#endif
#if TILE_M % PATCH_M != 0 || TILE_N % PATCH_N != 0
#error "gemm.local_tile: patches must divide the tile"
#endif
#define ITEMS_X (TILE_N / PATCH_N)
#define ITEMS_Y (TILE_M / PATCH_M)
#define ITEMS (ITEMS_X * ITEMS_Y)
// Vectors of a step's part of lhs and of rhs, and how many of them each work-item carries at most.
#define LHS_VECTORS (TILE_M * TILE_K / 4)
#define RHS_VECTORS (TILE_K * TILE_N / 4)
#define LHS_LOADS ((LHS_VECTORS + ITEMS - 1) / ITEMS)
#define RHS_LOADS ((RHS_VECTORS + ITEMS - 1) / ITEMS)

// From global memory into registers: what step k0 needs.
#define FETCH(k0)                                                                               \
  {                                                                                             \
    _Pragma("unroll") for (int i = 0; i < LHS_LOADS; ++i) {                                     \
      const int v = item + i * ITEMS;                                                           \
      if (LHS_VECTORS % ITEMS == 0 || v < LHS_VECTORS) {                                        \
        lhs_next[i] = lhs_vectors[v / (TILE_K / 4) * (K_pad / 4) + (k0) / 4 + v % (TILE_K / 4)]; \
      }                                                                                         \
    }                                                                                           \
    _Pragma("unroll") for (int i = 0; i < RHS_LOADS; ++i) {                                     \
      const int v = item + i * ITEMS;                                                           \
      if (RHS_VECTORS % ITEMS == 0 || v < RHS_VECTORS) {                                        \
        rhs_next[i] = rhs_vectors[((k0) + v / (TILE_N / 4)) * (N_pad / 4) + v % (TILE_N / 4)];  \
      }                                                                                         \
    }                                                                                           \
  }

// From registers into buffer b.
#define PUT(b)                                                                                   \
  {                                                                                              \
    _Pragma("unroll") for (int i = 0; i < LHS_LOADS; ++i) {                                      \
      const int v = item + i * ITEMS;                                                            \
      if (LHS_VECTORS % ITEMS == 0 || v < LHS_VECTORS) {                                         \
        __local float* column = (__local float*)lhs_tile[b][v % (TILE_K / 4) * 4] + v / (TILE_K / 4); \
        column[0] = lhs_next[i].s0;                                                              \
        column[TILE_M + 4] = lhs_next[i].s1;                                                     \
        column[2 * (TILE_M + 4)] = lhs_next[i].s2;                                               \
        column[3 * (TILE_M + 4)] = lhs_next[i].s3;                                               \
      }                                                                                          \
    }                                                                                            \
    _Pragma("unroll") for (int i = 0; i < RHS_LOADS; ++i) {                                      \
      const int v = item + i * ITEMS;                                                            \
      if (RHS_VECTORS % ITEMS == 0 || v < RHS_VECTORS) {                                         \
        rhs_tile[b][v / (TILE_N / 4)][v % (TILE_N / 4)] = rhs_next[i];                           \
      }                                                                                          \
    }                                                                                            \
  }

__kernel ATTRIBUTES void local_tile(ARGUMENTS) {
  __local float4 lhs_tile[2][TILE_K][TILE_M / 4 + 1] __attribute__((aligned(128)));
  __local float4 rhs_tile[2][TILE_K][TILE_N / 4] __attribute__((aligned(128)));
  const int x = get_local_id(0);
  const int y = get_local_id(1);
  const int item = y * ITEMS_X + x;
  // This work-group's tile: down a band of BAND rows of tiles before one to the right.
  const int first_row = get_group_id(1) / BAND * BAND;
  const int band_rows = min(BAND, (int)get_num_groups(1) - first_row);
  const int tiles_n = get_num_groups(0);
  const int within = ((int)get_group_id(1) - first_row) * tiles_n + (int)get_group_id(0);
  const int n0 = within / band_rows * TILE_N;
  const int m0 = (first_row + within % band_rows) * TILE_M;
  __global const float4* lhs_vectors = (__global const float4*)lhs + m0 * (K_pad / 4);
  __global const float4* rhs_vectors = (__global const float4*)rhs + n0 / 4;
  float4 lhs_next[LHS_LOADS];
  float4 rhs_next[RHS_LOADS];
  float4 sum[PATCH_M][PATCH_N / 4];
#pragma unroll
  for (int i = 0; i < PATCH_M; ++i) {
#pragma unroll
    for (int j = 0; j < PATCH_N / 4; ++j) sum[i][j] = (float4)(0.0f);
  }

  FETCH(0);
  PUT(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  int b = 0;
  for (int k0 = 0; k0 < K_pad; k0 += TILE_K) {
    if (k0 + TILE_K < K_pad) FETCH(k0 + TILE_K);
#pragma unroll
    for (int k = 0; k < TILE_K; ++k) {
      float4 across[PATCH_N / 4];
#pragma unroll
      for (int j = 0; j < PATCH_N / 4; ++j) across[j] = rhs_tile[b][k][j * ITEMS_X + x];
#pragma unroll
      for (int i = 0; i < PATCH_M / 4; ++i) {
        const float4 down = lhs_tile[b][k][i * ITEMS_Y + y];
#pragma unroll
        for (int j = 0; j < PATCH_N / 4; ++j) {
          sum[4 * i][j] += down.s0 * across[j];
          sum[4 * i + 1][j] += down.s1 * across[j];
          sum[4 * i + 2][j] += down.s2 * across[j];
          sum[4 * i + 3][j] += down.s3 * across[j];
        }
      }
    }
    b = 1 - b;
    if (k0 + TILE_K < K_pad) PUT(b);
    barrier(CLK_LOCAL_MEM_FENCE);
  }

#pragma unroll
  for (int i = 0; i < PATCH_M; ++i) {
    const int m = m0 + 4 * (i / 4 * ITEMS_Y + y) + i % 4;
#pragma unroll
    for (int j = 0; j < PATCH_N / 4; ++j) {
      const int n = n0 + 4 * (j * ITEMS_X + x);
      ((__global float4*)dst)[(m * N_pad + n) / 4] = sum[i][j];
    }
  }
  // A work-item takes up its own elements again: the epilogue's text, which may be long, stands once.
  // Where there is none, compilers see that nothing changes.
  for (int i = 0; i < PATCH_M; ++i) {
    const int m = m0 + 4 * (i / 4 * ITEMS_Y + y) + i % 4;
    for (int j = 0; j < PATCH_N; ++j) {
      const int n = n0 + 4 * (j / 4 * ITEMS_X + x) + j % 4;
      dst[m * N_pad + n] = EPILOGUE(dst[m * N_pad + n], m, n);
    }
  }
}
#undef ITEMS_X
#undef ITEMS_Y
#undef ITEMS
#undef LHS_VECTORS
#undef RHS_VECTORS
#undef LHS_LOADS
#undef RHS_LOADS
#undef FETCH
#undef PUT
