// SPDX-License-Identifier: Apache-2.0
//
// coded_gemm.tile: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * w[k,n]) for many rows, on GPUs with local memory of
// their own, where w[k,n] = (code[k,n] - zeros[k/BLOCK,n]) * scales[k/BLOCK,n].
//
//   lhs     R   m*K_pad + k
//   codes   R   p*N_pad + n; byte p has the codes of k = p*CODES, in its lowest BITS, and of those behind
//   scales  R   g*N_pad + n
//   zeros   R   g*N_pad + n
//   dst(m, n)   through an accessor
//
//                      n0    codes     n0+TILE_N
//                     +------------------+            A work-group computes a tile of dst. In each step it holds
//                  k0 | TILE_K x TILE_N  |            TILE_K columns of lhs and as many rows of weights in local
//                     +------------------+            memory, where weights are floats: each code is read once for
//         k0                                          TILE_M rows.
//   m0   +----+       [ .  x x x x .  .  ]
//   lhs  |    |       [ .  x x x x .  .  ]            The patch of a work-item is in pieces of 4 x 4: piece (i, j) of
//        |    |       [ .  .  .  . .  .  ]            item (x, y) begins at row 4*(i*ITEMS_Y + y) and column
//        +----+       [ .  .  .  . .  .  ]            4*(j*ITEMS_X + x).
//
// In local memory lhs lies k by k, with one vector more in each row than needed, as in gemm.local_tile. Two buffers
// take turns: while one is multiplied, what the next step needs travels into registers.
//
// A code less its zero is exact; its product with the scale is rounded, as a weight in f32 is.
//
// Edges: rows beyond M read row M - 1, columns behind the last ones read these. Neither is stored.
// Tunables: TILE_M, TILE_N, TILE_K; PATCH_M, PATCH_N (multiples of 4 that divide the tile).
// Assumes: N_pad is a multiple of 4, K_pad and P_pad are of TILE_K; lhs is zero where k >= K.
#define CODES (8 / BITS)
#define ITEMS_X (TILE_N / PATCH_N)
#define ITEMS_Y (TILE_M / PATCH_M)
#define ITEMS (ITEMS_X * ITEMS_Y)
// Vectors of a step's part of lhs, fours of bytes of its codes, and how many each work-item carries at most.
#define LHS_VECTORS (TILE_M * TILE_K / 4)
#define CODE_VECTORS (TILE_K / CODES * TILE_N / 4)
#define LHS_LOADS ((LHS_VECTORS + ITEMS - 1) / ITEMS)
#define CODE_LOADS ((CODE_VECTORS + ITEMS - 1) / ITEMS)

// From global memory into registers: what step k0 needs.
#define FETCH(k0)                                                                                        \
  {                                                                                                      \
    _Pragma("unroll") for (int i = 0; i < LHS_LOADS; ++i) {                                              \
      const int v = item + i * ITEMS;                                                                    \
      if (LHS_VECTORS % ITEMS == 0 || v < LHS_VECTORS) {                                                 \
        const int m = min(m0 + v / (TILE_K / 4), M - 1);                                                 \
        lhs_next[i] = *(__global const float4*)(lhs + (ulong)m * K_pad + (k0) + v % (TILE_K / 4) * 4);   \
      }                                                                                                  \
    }                                                                                                    \
    _Pragma("unroll") for (int i = 0; i < CODE_LOADS; ++i) {                                             \
      const int v = item + i * ITEMS;                                                                    \
      if (CODE_VECTORS % ITEMS == 0 || v < CODE_VECTORS) {                                               \
        const int p = (k0) / CODES + v / (TILE_N / 4);                                                   \
        const int n = min(n0 + v % (TILE_N / 4) * 4, N_pad - 4);                                         \
        const ulong of_block = (ulong)min(p * CODES / BLOCK, G - 1) * N_pad + n;                         \
        codes_next[i] = *(__global const uchar4*)(codes + (ulong)p * N_pad + n);                         \
        zeros_next[i] = *(__global const uchar4*)(zeros + of_block);                                     \
        scales_next[i] = *(__global const float4*)(scales + of_block);                                   \
      }                                                                                                  \
    }                                                                                                    \
  }

// From registers into buffer b. A code is put into the lowest bits of 2^23, which adds it.
#define PUT(b)                                                                                              \
  {                                                                                                         \
    _Pragma("unroll") for (int i = 0; i < LHS_LOADS; ++i) {                                                 \
      const int v = item + i * ITEMS;                                                                       \
      if (LHS_VECTORS % ITEMS == 0 || v < LHS_VECTORS) {                                                    \
        __local float* column = (__local float*)lhs_tile[b][v % (TILE_K / 4) * 4] + v / (TILE_K / 4);       \
        column[0] = lhs_next[i].s0;                                                                         \
        column[TILE_M + 4] = lhs_next[i].s1;                                                                \
        column[2 * (TILE_M + 4)] = lhs_next[i].s2;                                                          \
        column[3 * (TILE_M + 4)] = lhs_next[i].s3;                                                          \
      }                                                                                                     \
    }                                                                                                       \
    _Pragma("unroll") for (int i = 0; i < CODE_LOADS; ++i) {                                                \
      const int v = item + i * ITEMS;                                                                       \
      if (CODE_VECTORS % ITEMS == 0 || v < CODE_VECTORS) {                                                  \
        const float4 zero = convert_float4(zeros_next[i]) + 8388608.0f;                                     \
        _Pragma("unroll") for (int c = 0; c < CODES; ++c) {                                                 \
          const uint4 code = convert_uint4(codes_next[i]) >> (uint)(c * BITS) & (uint)((1 << BITS) - 1);    \
          weight_tile[b][v / (TILE_N / 4) * CODES + c][v % (TILE_N / 4)] =                                  \
              (as_float4(code | 0x4B000000u) - zero) * scales_next[i];                                      \
        }                                                                                                   \
      }                                                                                                     \
    }                                                                                                       \
  }

__kernel ATTRIBUTES void coded_tile(ARGUMENTS) {
  __local float4 lhs_tile[2][TILE_K][TILE_M / 4 + 1] __attribute__((aligned(128)));
  __local float4 weight_tile[2][TILE_K][TILE_N / 4] __attribute__((aligned(128)));
  const int x = get_local_id(0);
  const int y = get_local_id(1);
  const int item = y * ITEMS_X + x;
  const int n0 = get_group_id(0) * TILE_N;
  const int m0 = get_group_id(1) * TILE_M;
  float4 lhs_next[LHS_LOADS];
  uchar4 codes_next[CODE_LOADS];
  uchar4 zeros_next[CODE_LOADS];
  float4 scales_next[CODE_LOADS];
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
      for (int j = 0; j < PATCH_N / 4; ++j) across[j] = weight_tile[b][k][j * ITEMS_X + x];
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
    if (m >= M) continue;
#pragma unroll
    for (int j = 0; j < PATCH_N / 4; ++j) {
      const int n = n0 + 4 * (j * ITEMS_X + x);
      if (n < N) STORE_dst(m, n, EPILOGUE(sum[i][j].s0, m, n));
      if (n + 1 < N) STORE_dst(m, n + 1, EPILOGUE(sum[i][j].s1, m, n + 1));
      if (n + 2 < N) STORE_dst(m, n + 2, EPILOGUE(sum[i][j].s2, m, n + 2));
      if (n + 3 < N) STORE_dst(m, n + 3, EPILOGUE(sum[i][j].s3, m, n + 3));
    }
  }
}
#undef CODES
#undef ITEMS_X
#undef ITEMS_Y
#undef ITEMS
#undef LHS_VECTORS
#undef CODE_VECTORS
#undef LHS_LOADS
#undef CODE_LOADS
#undef FETCH
#undef PUT
