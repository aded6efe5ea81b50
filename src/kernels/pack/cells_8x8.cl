// SPDX-License-Identifier: Apache-2.0
//
// pack.cells_8x8_lhs_128, pack.cells_8x8_rhs_256 and their kin: dst[d0, d1] = src[d0, d1], into the formats of
// gemm.wgmma_bf16. Those are steps of STEP along k of tiles of TILE lines (rows of lhs, columns of rhs), in cells of 8
// lines x 8 k.
//
//   src  R or C   along k (ALONG), else across it
//   dst  R_{TILE}_64_R_8_8_R of lhs, C_64_{TILE}_C_8_8_C of rhs
//
//            k      +8     +16    +24               n 0        8       16       24
//   line 0  [item 0|item 8|  16  |  24  ]       k  [0 ... 7 |8 ... 15|16 .. 23|24 .. 31]   numbers of work-items
//        1  [     1|     9|  17  |  25  ]       +1 [0 ... 7 |8 ... 15|16 .. 23|24 .. 31]
//        :                                       :
//        7  [     7|    15|  23  |  31  ]       +7 [0 ... 7 |8 ... 15|16 .. 23|24 .. 31]
//
//            src along k                            src across k
//
// A work-item takes a line of a cell: eight numbers, 16 bytes of dst where these have 16 bits. Those that run in step
// read 128 bytes from where they read at all, and write whole cells. pack.short_runs takes as much for each work-item,
// but reads and writes numbers one by one.
//
// Tunables: TILE; LHS, ALONG: which operand, and how it lies; LOCAL, work-items of a work-group.
// Assumes: buffers begin at multiples of 16 bytes.
#define STEP 64
#define LINES (LHS ? D0 : D1)
#define DEPTH (LHS ? D1 : D0)
#define DEPTH_PAD (LHS ? dst_pad1 : dst_pad0)
#define UNITS (TILE * STEP / 8)
#define VECTORS ((int)sizeof(MEMORY_dst) / 2)
// A number as it lies in memory, in place i of an array.
#define KEEP_float(array, i, v) ((float*)(array))[i] = v
#define KEEP_ushort(array, i, v) ((ushort*)(array))[i] = morton_to_bf16(v)
#define KEEP_half(array, i, v) vstore_half_rte(v, i, (half*)(array))
#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)
#define KEEP JOINED(KEEP_, MEMORY_dst)

__kernel ATTRIBUTES void cells_8x8(ARGUMENTS) {
  const int part = get_group_id(0) / (UNITS / LOCAL);
  const int unit = get_group_id(0) % (UNITS / LOCAL) * LOCAL + get_local_id(0);
  const int steps = DEPTH_PAD / STEP;
#if ALONG
  const int in_tile = unit / STEP * 8 + unit % 8;
  const int in_step = unit / 8 % (STEP / 8) * 8;
#else
  const int in_tile = unit / (4 * STEP) * 32 + unit % 32;
  const int in_step = unit / 32 % (STEP / 8) * 8;
#endif
  const int line = part / steps * TILE + in_tile;
  const int k = part % steps * STEP + in_step;
  float values[8];
#if ALONG
  const size_t from = (size_t)line * DEPTH + k;
  if (DEPTH % 8 == 0 && line < LINES && k + 8 <= DEPTH) {
    vstore8(EIGHT_AT(MEMORY_src, src, from / 8), 0, values);
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i) values[i] = line < LINES && k + i < DEPTH ? AT_src(from + i) : 0.0f;
  }
#else
  const size_t from = (size_t)k * LINES + line;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    values[i] = line < LINES && k + i < DEPTH ? AT_src(from + (size_t)i * LINES) : 0.0f;
  }
#endif
  uint4 kept[VECTORS];
#pragma unroll
  for (int i = 0; i < 8; ++i) KEEP(kept, i, values[i]);
  const size_t to = (size_t)part * UNITS + in_tile / 8 * STEP + in_step + in_tile % 8;
#pragma unroll
  for (int i = 0; i < VECTORS; ++i) ((__global uint4*)dst)[to * VECTORS + i] = kept[i];
}
#undef STEP
#undef LINES
#undef DEPTH
#undef DEPTH_PAD
#undef UNITS
#undef VECTORS
#undef KEEP_float
#undef KEEP_ushort
#undef KEEP_half
#undef JOINED_
#undef JOINED
#undef KEEP
