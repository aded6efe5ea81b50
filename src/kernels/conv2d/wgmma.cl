// SPDX-License-Identifier: Apache-2.0
//
// conv2d.wgmma_f16, conv2d.wgmma_bf16: dst[n,o,oh,ow] = EPILOGUE(sum over kh, kw, i of
//     src[n, i, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[o,i,kh,kw])
// on the matrix units of NVIDIA's Hopper GPUs, operands in half or bfloat16, sums in f32.
//
//   src      NHWC8c                  ((n*H + h)*W + w)*C_pad + c         16 bytes are a piece: 8 channels of a pixel
//   weights  OHWI8o8i                cells of 8 filters by a piece, tap after tap
//   dst      NHWO8o, any real type   ((n*OH + oh)*OW + ow)*O_pad + o
//
//                             o0      o0 + TILE_N      A product of pixels x K by K x filters, of which no columns are
//                       step [           ]             ever written to memory: K counts taps, and in them channels.
//              step     step [           ]             A step is 8 pieces along K, of one tap or of several.
//   pixels   [  |  |  ]      [-----------]
//            [  |  |  ]      [ warps 0-3 ]             A work-group computes TILE_M pixels x TILE_N filters, each
//            [  |  |  ]      [ warps 4-7 ]             four warps (128 work-items) 64 of the pixels.
//
// The work-items are CREWS crews, and take turns: one copies all pieces of a step from src, where the taps of the pixels
// lie, and from weights. Beyond the image, the last pixel and the last piece the copy writes zeros. Copies go past
// registers to a ring of CREWS + 2 steps in local memory. wgmma sees them behind a fence, which waits for all copies
// of the work-item. So a crew has one step on its way, and the others' steps stay on theirs.
//
//   step s - 2           multiplied by all, so its place takes step s + CREWS
//   step s - 1           being multiplied
//   step s               there for all behind the barrier
//   s + 1 ... + CREWS - 1   on their way, each by a crew
//
// In a step's place piece p of pixel r lies at p*PIXEL_BYTES + r*16 bytes: 8 pixels are a cell as wgmma reads it.
//
// Sums go through local memory in the end. A warp then stores neighbouring channels of a pixel, four by each work-item,
// and reads what the epilogue adds in the same order.
//
// Tunables: TILE_M, 64 or 128 pixels; TILE_N, 64, 128 or 256 filters; CREWS, 1, 2 or 4; ROWS pixels of a warp whose
// epilogues are computed before they are stored.
// Assumes: C_pad is a multiple of 8 and src's padding zero; src and weights begin at multiples of 16 bytes. A driver that
// takes PTX within OpenCL C, for a GPU of capability 9.0.
// Source: NVIDIA, "Parallel Thread Execution ISA", wgmma.mma_async, cp.async, fence.proxy.async.
#define OPERAND MEMORY_src
#define PIECES 8
// A crew copies one step, and its next CREWS steps behind. A work-item has rows of pixels and of filters of it.
#define STAGES (CREWS + 2)
#define CREW (2 * TILE_M / CREWS)
#define PIXEL_ROWS (TILE_M * 8 / CREW)
#define FILTER_ROWS (TILE_N * 8 / CREW)
// From piece to piece: 16 bytes more than all rows, so that pieces of one row lie in different banks.
#define PIXEL_BYTES (16 * TILE_M + 16)
#define FILTER_BYTES (16 * TILE_N + 16)
#define STAGE_BYTES (PIECES * (PIXEL_BYTES + FILTER_BYTES))
#define CELL_BYTES 128
#define PITCH (TILE_N + 8)
// Pixels that a warp stores at a time.
#define LINE (TILE_N < 128 ? 128 / TILE_N : 1)
// 16 bytes to local memory, or zeros in their place.
#define COPY(to, from, inside)                                                  \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), \
               "r"((inside) ? 16 : 0) : "memory")
// Waits until this work-item's copies are there, and shows them to wgmma.
#define COPIES_THERE asm volatile("cp.async.wait_all;\nfence.proxy.async;" ::: "memory")
// Starts the copies of this crew's next step, if there is one, into the ring's place s.
#define START_COPIES(s)                                                                        \
  {                                                                                            \
    if (copied < all) {                                                                        \
      const uint to = first + (s) * STAGE_BYTES;                                               \
      const int kh = tap / KW;                                                                 \
      const int kw = tap - kh * KW;                                                            \
      const int shift = kh * DH * W + kw * DW;                                                 \
      _Pragma("unroll") for (int i = 0; i < PIXEL_ROWS; ++i) {                                 \
        const int h = row_h[i] + kh * DH;                                                      \
        const int w = row_w[i] + kw * DW;                                                      \
        const int inside = tap < KH * KW && (uint)h < (uint)H && (uint)w < (uint)W;            \
        const long from = inside ? (long)(row_pixel[i] + shift) * C_pad + 8 * channels : 0;    \
        COPY(to + pixel_place + i * (16 * CREW / 8), src + from, inside);                     \
      }                                                                                        \
      _Pragma("unroll") for (int i = 0; i < FILTER_ROWS; ++i) {                                \
        const int inside = copied + filter_piece < all && filter + i * (CREW / 8) < O_pad;    \
        const long from = inside ? (long)i * (CREW / 64) * all * 64 + copied * 64 : 0;        \
        COPY(to + filter_place + i * (16 * CREW / 8), filters + from, inside);                \
      }                                                                                        \
      copied += CREWS * PIECES;                                                                \
      channels += CREWS * PIECES;                                                              \
      if (channels >= of_tap) {                                                                \
        tap += channels / of_tap;                                                              \
        channels %= of_tap;                                                                    \
      }                                                                                        \
    }                                                                                          \
  }

__kernel ATTRIBUTES void wgmma(ARGUMENTS) {
  __local uint4 ring[STAGES * STAGE_BYTES / 16] __attribute__((aligned(128)));
  const uint first = (uint)(size_t)&ring[0];
  const int item = get_local_id(0);
  const int lane = item % 32;
  const int pixels = N * OH * OW;
  const int of_tap = C_pad / 8;
  const int all = KH * KW * of_tap;

  // This work-group's tile: those of the same pixels come one after another. Numbers are spread over two dimensions.
  const int tiles = (O + TILE_N - 1) / TILE_N;
  const int tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
  const int o0 = tile % tiles * TILE_N;
  const int p0 = tile / tiles * TILE_M;
  if (p0 >= pixels) return;

  // What this work-item copies of each step. Eight read all pieces of a pixel, which lie side by side; eight others a cell
  // of filters.
  const int crew = item / CREW;
  const int member = item % CREW;
  const int piece = member % PIECES;
  const int row = member / PIECES;
  const uint pixel_place = piece * PIXEL_BYTES + row * 16;
  const int filter_piece = member / 8 % PIECES;
  const int filter_row = member / (8 * PIECES) * 8 + member % 8;
  const uint filter_place = PIECES * PIXEL_BYTES + filter_piece * FILTER_BYTES + filter_row * 16;
  int row_h[PIXEL_ROWS];
  int row_w[PIXEL_ROWS];
  int row_pixel[PIXEL_ROWS];
#pragma unroll
  for (int i = 0; i < PIXEL_ROWS; ++i) {
    const int p = p0 + row + i * (CREW / 8);
    const int n = p / (OH * OW);
    const int within = p - n * (OH * OW);
    // No tap of a pixel behind the last lies in the image.
    row_h[i] = p < pixels ? within / OW * SH - PT : -1 << 24;
    row_w[i] = within % OW * SW - PL;
    row_pixel[i] = (n * H + within / OW * SH - PT) * W + row_w[i];
  }
  const int filter = o0 + filter_row;
  // Of filters that are not there nothing is read.
  __global const MEMORY_weights* filters =
      weights + (filter < O_pad ? ((size_t)(filter / 8) * all + filter_piece) * 64 + filter % 8 * 8 : 0);
  int copied = crew * PIECES;
  int tap = (copied + piece) / of_tap;
  int channels = (copied + piece) % of_tap;
  START_COPIES(crew);

  float sum[TILE_N / 2];
#pragma unroll
  for (int i = 0; i < TILE_N / 2; ++i) sum[i] = 0.0f;
  const ulong pixel_steps = CELLS(PIXEL_BYTES, CELL_BYTES);
  const ulong filter_steps = CELLS(FILTER_BYTES, CELL_BYTES);
  int stage = 0;
  int turn = 0;
  for (int k = 0; k < all; k += PIECES) {
    const uint place = first + stage * STAGE_BYTES;
    const ulong pixel_cells = pixel_steps | (place + item / 128 * (64 * 16)) / 16;
    const ulong filter_cells = filter_steps | (place + PIECES * PIXEL_BYTES) / 16;
    if (crew == turn) COPIES_THERE;
    barrier(CLK_LOCAL_MEM_FENCE);
    WGMMA_FENCE;
#pragma unroll
    for (int i = 0; i < PIECES / 2; ++i) {
      MULTIPLY(pixel_cells + i * (2 * PIXEL_BYTES / 16), filter_cells + i * (2 * FILTER_BYTES / 16));
    }
    WGMMA_COMMIT;
    // The place of the step before the last, which all have multiplied.
    if (crew == turn) START_COPIES(stage < 2 ? stage + CREWS : stage - 2);
    WGMMA_WAIT("1");
    if (++stage == STAGES) stage = 0;
    if (++turn == CREWS) turn = 0;
  }
  WGMMA_WAIT("0");
  barrier(CLK_LOCAL_MEM_FENCE);

  // In each 16 x 8 a work-item holds rows lane/4 and lane/4 + 8, columns 2*(lane%4) and the next.
  __local float* sums = (__local float*)ring;
  __local float* mine = sums + (item / 32 * 16 + lane / 4) * PITCH + 2 * (lane % 4);
#pragma unroll
  for (int j = 0; j < TILE_N / 8; ++j) {
    *(__local float2*)(mine + 8 * j) = (float2)(sum[4 * j], sum[4 * j + 1]);
    *(__local float2*)(mine + 8 * PITCH + 8 * j) = (float2)(sum[4 * j + 2], sum[4 * j + 3]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  // A warp takes its own 16 pixels, LINE of them at a time. What lies beyond an edge is computed at the edge, without a
  // branch that would keep reads apart.
  const int r0 = item / 32 * 16 + lane * 4 / TILE_N;
  for (int o = o0 + lane * 4 % TILE_N; o < min(o0 + TILE_N, O_pad); o += 128) {
    int n = (p0 + r0) / (OH * OW);
    int oh = (p0 + r0) / OW % OH;
    int ow = (p0 + r0) % OW;
    for (int r = r0; r < r0 + 16; r += ROWS * LINE) {
      float4 four[ROWS];
#pragma unroll
      for (int i = 0; i < ROWS; ++i) {
        const int there = min(n, N - 1);
        four[i] = *(__local float4*)(sums + (r + i * LINE) * PITCH + o - o0);
#pragma unroll
        for (int t = 0; t < 4; ++t) {
          const float finished = EPILOGUE(four[i].s0, there, min(o + t, O - 1), oh, ow);
          four[i].s0 = o + t < O ? finished : 0.0f;
          four[i] = four[i].s1230;
        }
        ow += LINE;
        while (ow >= OW) {
          ow -= OW;
          if (++oh == OH) {
            oh = 0;
            ++n;
          }
        }
      }
#pragma unroll
      for (int i = 0; i < ROWS; ++i) {
        const int p = p0 + r + i * LINE;
        if (p < pixels) PUT_FOUR(MEMORY_dst, dst, ((size_t)p * O_pad + o) / 4, four[i]);
      }
    }
  }
}
#undef OPERAND
#undef PIECES
#undef STAGES
#undef CREW
#undef PIXEL_ROWS
#undef FILTER_ROWS
#undef PIXEL_BYTES
#undef FILTER_BYTES
#undef STAGE_BYTES
#undef CELL_BYTES
#undef PITCH
#undef LINE
#undef COPY
#undef COPIES_THERE
#undef START_COPIES
