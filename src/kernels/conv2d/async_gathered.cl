// SPDX-License-Identifier: Apache-2.0
//
// conv2d.async_gathered, conv2d.async_gathered_low, conv2d.async_gathered_small: dst[n,o,oh,ow] = EPILOGUE(sum over
// kh, kw, i of src[n, o/(O/G)*I + i, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[o,i,kh,kw])
// on NVIDIA GPUs, whose copies from global to local memory run by themselves.
//
//   src      NCHW   ((n*C + c)*H + h)*W + w,  c = o/(O/G)*I + i
//   weights  HWIO   k*O + o,  k = (kh*KW + kw)*I + i
//   dst      NOHW   ((n*O + o)*OH + oh)*OW + ow
//
// The tile of gemm.async_tile (shared/async_tile.clh) for filters x K by K x pixels, of which no columns are ever
// written to memory:
//
//                       p0     p0 + TILE_N           A work-item has one pixel of the tile, or a share of it, or
//          TILE_K      [x         ] k: tap, channel  several. Of each step it copies those rows that its pixel's
//          rows        [x         ]                  taps name, 4 bytes each, and zeros beyond the image.
//    o0   [ step ]     [ sums     ]
//         [      ]     [          ]                  K counts taps, and in them channels. So a run of channels has
//    o0 + TILE_M                                     one tap: it lies inside or outside as a whole, and an element
//                                                    further is a plane of the image further.
//
// Where a run ends within a step, the next tap's follows.
//
// Where a group's filters are no multiple of four, weights are copied by the number in place of 16 bytes.
//
// The three differ in their values, as those of gemm.async_tile do.
//
// Tunables: TILE_M filters, TILE_N pixels, TILE_K; PATCH_M, PATCH_N (multiples of 4); LANES_X of a warp; STAGES.
// Assumes: elements of src are countable in 31 bits; weights and dst begin at multiples of 16 bytes. A driver that
// takes PTX within OpenCL C, for sm_80 or later.
//
// Work-items that share a pixel, pixels of a work-item, and its rows of a step.
#define SHARES (ITEMS > TILE_N ? ITEMS / TILE_N : 1)
#define PIXELS (ITEMS > TILE_N ? 1 : TILE_N / ITEMS)
#define ROWS (TILE_K / SHARES)
// From row to row of those that a work-item copies of weights.
#define FILTERS_STEP (ITEMS / (TILE_M / 4))

// For each pixel of the work-item: where the tap lies, and whether it lies in the image.
#define FIND(at, inside)                                                                     \
  _Pragma("unroll") for (int x = 0; x < PIXELS; ++x) {                                       \
    at[x] = pixel[x] + (i_next * plane + kh * DH * W + kw * DW);                             \
    inside[x] = kh < KH && (uint)(top[x] + kh * DH) < (uint)H && (uint)(left[x] + kw * DW) < (uint)W; \
  }
#define NEXT_TAP                                                                             \
  if (++kw == KW) {                                                                          \
    kw = 0;                                                                                  \
    ++kh;                                                                                    \
  }
// Goes `rows` on along K.
#define GO_ON(rows)                                                                          \
  {                                                                                          \
    i_next += (rows);                                                                        \
    while (i_next >= I) {                                                                    \
      i_next -= I;                                                                           \
      NEXT_TAP                                                                               \
    }                                                                                        \
  }
// Row u of this work-item's: all its pixels.
#define COPY_ROW(u, at, inside)                                                              \
  _Pragma("unroll") for (int x = 0; x < PIXELS; ++x) {                                       \
    COPY_NUMBER(to + (u) * TILE_N + x * ITEMS, at[x], inside[x]);                            \
    at[x] += plane;                                                                          \
  }
// All its rows: as a rule a run of one tap's channels, else those of several taps.
#define COPY_ROWS                                                                            \
  FIND(at, inside);                                                                          \
  if (i_next + ROWS <= I) {                                                                  \
    _Pragma("unroll") for (int u = 0; u < ROWS; ++u) COPY_ROW(u, at, inside);                \
    GO_ON(TILE_K);                                                                           \
  } else {                                                                                   \
    _Pragma("unroll 4") for (int u = 0; u < ROWS; ++u) {                                     \
      COPY_ROW(u, at, inside);                                                               \
      if (++i_next == I) {                                                                   \
        i_next = 0;                                                                          \
        NEXT_TAP                                                                             \
        FIND(at, inside);                                                                    \
      }                                                                                      \
    }                                                                                        \
    GO_ON(TILE_K - ROWS);                                                                    \
  }

// Row i of this work-item's of weights: where it lies, and how many of its numbers are there.
#define FILTERS_AT(i)                                                                        \
  const int there = k_copied + filters_row + (i) * FILTERS_STEP < K ? filters_left : 0;      \
  __global const float* from = filters + (there > 0 ? (i) * FILTERS_STEP * O : 0);
#define COPY_FILTERS(stage)                                                                      \
  if (of_group % 4 == 0) {                                                                   \
    _Pragma("unroll") for (int i = 0; i < LHS_VECTORS / ITEMS; ++i) {                        \
      FILTERS_AT(i);                                                                         \
      COPY_INSIDE(&ring[stage][item + i * ITEMS], from, there > 0);                          \
    }                                                                                        \
  } else {                                                                                   \
    _Pragma("unroll 1") for (int e = 0; e < 4 * LHS_VECTORS / ITEMS; ++e) {                  \
      FILTERS_AT(e / 4);                                                                     \
      COPY_NUMBER((__local float*)&ring[stage][item + e / 4 * ITEMS] + e % 4, from + e % 4, there > e % 4); \
    }                                                                                        \
  }

// Starts the copies of the next step, if there is one, into the ring's place `stage`.
#define START_COPIES(stage)                                                                  \
  {                                                                                          \
    if (k_copied < K) {                                                                      \
      COPY_FILTERS(stage)                                                                    \
      __local float* to = (__local float*)&ring[stage][LHS_VECTORS] + gathered_place;        \
      __global const float* at[PIXELS];                                                      \
      int inside[PIXELS];                                                                    \
      COPY_ROWS                                                                              \
      filters += TILE_K * O;                                                                 \
      k_copied += TILE_K;                                                                    \
    }                                                                                        \
    COMMIT_COPIES;                                                                           \
  }

__kernel ATTRIBUTES void async_gathered(ARGUMENTS) {
  DECLARE_TILE;
  const int K = KH * KW * I;
  const int area = OH * OW;
  const int plane = H * W;
  const int pixels = N * area;
  const int of_group = O / G;

  // This work-group's tile: those of the same pixels come one after another. Numbers are spread over two dimensions.
  const int tiles_m = (of_group + TILE_M - 1) / TILE_M;
  const int tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
  const int group = tile / tiles_m % G;
  const int m0 = tile % tiles_m * TILE_M;
  const int p0 = tile / (tiles_m * G) * TILE_N;
  if (p0 >= pixels) return;

  // What this work-item copies of each step.
  const int filters_row = item / (TILE_M / 4);
  const int filter_of_item = m0 + item % (TILE_M / 4) * 4;
  const int filters_left = of_group - filter_of_item;
  __global const float* filters =
      weights + group * of_group + (filters_left > 0 ? filter_of_item : 0) + filters_row * O;
  const int gathered_place = item / TILE_N * ROWS * TILE_N + item % TILE_N;
  __global const float* pixel[PIXELS];
  int top[PIXELS];
  int left[PIXELS];
#pragma unroll
  for (int x = 0; x < PIXELS; ++x) {
    const int p = p0 + item % TILE_N + x * ITEMS;
    const int n = p / area;
    const int within = p - n * area;
    // No tap of a pixel behind the last lies in the image.
    top[x] = p < pixels ? within / OW * SH - PT : -1 << 30;
    left[x] = within % OW * SW - PL;
    pixel[x] = src + ((n * C + group * I) * plane + (within / OW * SH - PT) * W + left[x]);
  }
  int k_copied = 0;
  int kh = 0;
  int kw = 0;
  int i_next = 0;
  if (SHARES > 1) GO_ON(item / TILE_N * ROWS);
  SUM_PRODUCTS(K);

  // What lies beyond an edge is computed at the edge, without a branch that would keep reads apart.
#pragma unroll
  for (int j = 0; j < PATCH_N / 4; ++j) {
    const int p = p0 + 4 * (column + j * LANES_X);
    const int n = p / area;
    const int within = p - n * area;
    const int oh = within / OW;
#pragma unroll
    for (int i = 0; i < PATCH_M; ++i) {
      const int m = m0 + 4 * (row + i / 4 * LANES_Y) + i % 4;
      const int o = group * of_group + min(m, of_group - 1);
      float4 four = sum[i][j];
      int to_n = n;
      int to_h = oh;
      int to_w = within - oh * OW;
      for (int t = 0; t < 4; ++t) {
        four.s0 = EPILOGUE(four.s0, min(to_n, N - 1), o, to_h, to_w);
        if (area % 4 != 0 && m < of_group && p + t < pixels) {
          dst[((size_t)to_n * O + o) * area + to_h * OW + to_w] = four.s0;
        }
        four = four.s1230;
        if (++to_w == OW) {
          to_w = 0;
          if (++to_h == OH) {
            to_h = 0;
            ++to_n;
          }
        }
      }
      if (area % 4 == 0 && m < of_group && p < pixels) {
        *(__global float4*)(dst + ((size_t)n * O + o) * area + within) = four;
      }
    }
  }
}
#undef SHARES
#undef PIXELS
#undef ROWS
#undef FILTERS_STEP
#undef FIND
#undef NEXT_TAP
#undef GO_ON
#undef COPY_ROW
#undef COPY_ROWS
#undef FILTERS_AT
#undef COPY_FILTERS
#undef START_COPIES
