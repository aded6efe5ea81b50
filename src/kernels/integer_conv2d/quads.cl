// SPDX-License-Identifier: Apache-2.0
//
// integer_conv2d.quads_64, _32, _16 and _few: dst[n,o,oh,ow] = EPILOGUE(sum over i, kh, kw of
//     code[n, o/(O/G)*I + i, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[o,i,kh,kw]),
// where code is src within the image and border[c] outside of it, for CPUs.
//
//   src      NCHW{D}c     (((n*Q + c/D)*H + h)*W + w)*D + c%D,   Q = ceil(C / D)
//   weights  OHWI{L}o4i   ((((o/L*KH + kh)*KW + kw)*P + i/4)*L + o%L)*4 + i%4,   P = ceil(I / 4)
//   border   C{D}c        c
//   dst      NOHW{L}o     (((n*R + o/L)*OH + oh)*OW + ow)*L + o%L,   R = ceil(O / L)
//
// Processors multiply four pairs of bytes and add all products to a sum in one instruction (x86: vpdpbusd), or two pairs
// of 16-bit numbers (pmaddwd). So a step is four channels of one tap. A lane of a vector is one output.
//
//                           weights of one tap and four channels
//                           o0             o0+L*BLOCKS
//         src         i..i+3 [L ][L ][L ][L ]             L quads of bytes each
//       pixel     xxxx  -->  [L ][L ][L ][L ]
//       pixel     xxxx  -->  [L ][L ][L ][L ]             BLOCKS * PIXELS sums of 32 bits
//       pixel     xxxx  -->  [L ][L ][L ][L ]
//
// A tile is PIXELS pixels of dst, one after another through rows and images. Each reads its own place in src, or, where
// the tap lies outside of the image, in border: nothing is copied. A work-item takes many tiles for the same outputs.
//
// The instruction multiplies unsigned bytes by signed ones. Signed ones of src change their sign: the upper bits flip,
// which adds 128 to each. The sums of the weights, found once for each work-item, make up for it. All of it is exact.
//
// The entries differ in BLOCKS and PIXELS, which together fill the registers. Of several groups each begins with a block.
// Channels that pad src or border may hold what they like: their weights are zero.
//
// Tunables: LANES, the L above; CHANNELS, the D above: LANES, or 4 for images of few channels; BLOCKS, PIXELS of a tile; BYTE_PRODUCTS (see byte_dots.clh); GROUPS, work-items for each
// compute unit.
// Assumes: a work-group of one work-item.
#define QUADS (CHANNELS / 4)
#define FLIP ((TYPE_src)-1 < 0 ? 0x80808080u : 0u)

typedef TYPE_dst lanes_of_dst __attribute__((ext_vector_type(LANES), aligned(1)));

// Where the numbers of a pixel of one tap begin, and how far apart those of two blocks of channels are.
typedef struct {
  __global const TYPE_src* from;
  int apart;
} pixel_place;

// The windows of a tile's pixels: their rows and columns in src, which may lie outside, and the pixel's number there.
// Of a run, pixels of one row whose windows lie within the image side by side, the first.
typedef struct {
  int row[PIXELS], column[PIXELS], pixel[PIXELS];
  int is_run;
  int is_inside;  // all windows lie within the image
} tile_windows;

// What the image and its windows are, and where the channels of the outputs' group begin.
typedef struct {
  int H, W, KH, KW, DH, DW, channel, quads;
} geometry;

// Four channels of all pixels, times those of BLOCKS * LANES outputs. `from(p)` are the numbers of a pixel.
#define ADD_QUAD(quad, from)                                                                                  \
  {                                                                                                           \
    lanes_of_sums across[BLOCKS];                                                                             \
    _Pragma("unroll") for (int b = 0; b < BLOCKS; ++b) {                                                      \
      across[b] = *(__global const lanes_of_sums*)(filter[b] + (quad) * (4 * LANES));                         \
    }                                                                                                         \
    _Pragma("unroll") for (int p = 0; p < PIXELS; ++p) {                                                      \
      const lanes_of_sums code = *(__global const four_bytes*)(from(p) + 4 * (quad)) ^ FLIP;                  \
      _Pragma("unroll") for (int b = 0; b < BLOCKS; ++b) sum[p][b] = ADD_PRODUCTS(sum[p][b], code, across[b]); \
    }                                                                                                         \
  }
// All channels of a tap. `next` goes on by a block of channels.
#define ADD_TAP(from, next)                                   \
  {                                                           \
    int quads = tap_quads;                                    \
    for (; quads >= QUADS; quads -= QUADS) {                  \
      _Pragma("unroll") for (int q = 0; q < QUADS; ++q) ADD_QUAD(q, from) \
      _Pragma("unroll") for (int b = 0; b < BLOCKS; ++b) filter[b] += QUADS * 4 * LANES; \
      next                                                    \
    }                                                         \
    for (int q = 0; q < quads; ++q) ADD_QUAD(q, from)         \
    _Pragma("unroll") for (int b = 0; b < BLOCKS; ++b) filter[b] += quads * (4 * LANES); \
  }
#define IN_RUN(p) (run + (p) * CHANNELS)
#define IN_PLACE(p) (place[p].from)

// The sums of a tile. `filters` are those of each block of outputs, `first` is what flipped signs add.
static WITH_BYTE_PRODUCTS void find_sums(const tile_windows* at, const geometry* of, __global const TYPE_src* src,
                                         __global const TYPE_src* border,
                                         __global const TYPE_weights* const* filters, const int* first, int* sums) {
  lanes_of_sums sum[PIXELS][BLOCKS];
  __global const TYPE_weights* filter[BLOCKS];
#pragma unroll
  for (int b = 0; b < BLOCKS; ++b) filter[b] = filters[b];
#pragma unroll
  for (int p = 0; p < PIXELS; ++p) {
#pragma unroll
    for (int b = 0; b < BLOCKS; ++b) sum[p][b] = FLIP == 0u ? 0u : *(const lanes_of_sums*)(first + b * LANES);
  }
  const int H = of->H;
  const int W = of->W;
  // With four channels a row of a window is one piece of memory, as its weights are: a tap of as many quads.
  const int is_row = (CHANNELS == 4) & (of->quads == 1) & (of->DW == 1) & at->is_inside;
  const int columns = is_row ? 1 : of->KW;
  const int tap_quads = is_row ? of->KW : of->quads;
  const int plane = is_row ? CHANNELS : H * W * CHANNELS;
  for (int kh = 0; kh < of->KH; ++kh) {
    const int down = kh * of->DH;
    for (int kw = 0; kw < columns; ++kw) {
      const int across = kw * of->DW;
      if (at->is_run) {
        __global const TYPE_src* run = src + (at->pixel[0] + down * W + across) * CHANNELS;
        ADD_TAP(IN_RUN, run += plane;)
        continue;
      }
      pixel_place place[PIXELS];
      const int further = down * W + across;
      // Vectors of addresses would be scattered into memory and read again.
      if (at->is_inside) {
#pragma clang loop vectorize(disable)
        for (int p = 0; p < PIXELS; ++p) {
          place[p].from = src + (at->pixel[p] + further) * CHANNELS;
          place[p].apart = plane;
        }
      } else {
#pragma clang loop vectorize(disable)
        for (int p = 0; p < PIXELS; ++p) {
          const int inside = ((uint)(at->row[p] + down) < (uint)H) & ((uint)(at->column[p] + across) < (uint)W);
          place[p].from = inside ? src + (at->pixel[p] + further) * CHANNELS : border + of->channel;
          place[p].apart = inside ? plane : CHANNELS;
        }
      }
      ADD_TAP(IN_PLACE, _Pragma("unroll") for (int p = 0; p < PIXELS; ++p) place[p].from += place[p].apart;)
    }
  }
#pragma unroll
  for (int p = 0; p < PIXELS; ++p) {
#pragma unroll
    for (int b = 0; b < BLOCKS; ++b) *(lanes_of_sums*)(sums + (p * BLOCKS + b) * LANES) = sum[p][b];
  }
}

// 128 times the sum of a block's weights, of `length` quads, taken off: what flipped signs add.
static WITH_BYTE_PRODUCTS void take_off_flips(__global const TYPE_weights* filter, int length, int* sums) {
  const lanes_of_sums ones = 0x01010101u;
  lanes_of_sums sum = 0u;
  for (int q = 0; q < length; ++q) {
    const lanes_of_sums across = *(__global const lanes_of_sums*)(filter + q * (4 * LANES));
    sum = ADD_PRODUCTS(sum, ones, across);
  }
  *(lanes_of_sums*)sums = sum * (uint)-128;
}

__kernel ATTRIBUTES void integer_quads(ARGUMENTS) {
  int sums[PIXELS * BLOCKS * LANES];
  int first[BLOCKS * LANES];
  const int out_blocks = (O + LANES - 1) / LANES;
  const int pixels = N * OH * OW;
  const int tiles = (pixels + PIXELS - 1) / PIXELS;
  const int last_tile = share(tiles, get_global_id(0) + 1, get_global_size(0));
  const int b0 = get_global_id(1) * BLOCKS;
  const int quads = (I + 3) / 4;
  const int channel = G == 1 ? 0 : b0 * LANES / (O / G) * I;
  const int in_blocks = (C + CHANNELS - 1) / CHANNELS;
  // Of single pixels all lie in one row.
  const int is_flat = (KH * KW == 1) & (SH == 1) & (SW == 1) & (PT == 0) & (PL == 0) & (OH == H) & (OW == W);
  const int rows = is_flat ? 1 : OH;
  const int columns = is_flat ? OH * OW : OW;
  const geometry of = {is_flat ? 1 : H, is_flat ? H * W : W, KH, KW, DH, DW, channel, quads};

  __global const TYPE_weights* filters[BLOCKS];
  for (int b = 0; b < BLOCKS; ++b) {
    filters[b] = weights + min(b0 + b, out_blocks - 1) * (KH * KW * 4 * LANES) * quads;
    if (FLIP != 0u) take_off_flips(filters[b], KH * KW * quads, first + b * LANES);
  }

  for (int tile = share(tiles, get_global_id(0), get_global_size(0)); tile < last_tile; ++tile) {
    const int count = min(pixels - tile * PIXELS, PIXELS);
    const int first_image = tile * PIXELS / (OH * OW);
    const int first_row = tile * PIXELS / OW % OH;
    const int first_column = tile * PIXELS % OW;
    tile_windows at;
    {
      int n = first_image;
      int oh = is_flat ? 0 : first_row;
      int ow = is_flat ? first_row * OW + first_column : first_column;
      const int top = oh * SH - PT;
      const int left = ow * SW - PL;
      at.is_run = (SW == 1) & (count == PIXELS) & (ow + PIXELS <= columns) & (top >= 0) & (left >= 0) &
                  (top + (KH - 1) * DH < of.H) & (left + PIXELS - 1 + (KW - 1) * DW < of.W);
      at.is_inside = 1;
      if (at.is_run) {
        at.pixel[0] = ((n * in_blocks + channel / CHANNELS) * of.H + top) * of.W + left;
      } else {
        int row = ((n * in_blocks + channel / CHANNELS) * of.H + top) * of.W;
        for (int p = 0; p < PIXELS; ++p) {
          at.row[p] = oh * SH - PT;
          at.column[p] = ow * SW - PL;
          at.pixel[p] = row + at.column[p];
          at.is_inside &= (at.row[p] >= 0) & (at.column[p] >= 0) & (at.row[p] + (KH - 1) * DH < of.H) &
                          (at.column[p] + (KW - 1) * DW < of.W);
          // In place of pixels that do not exist the last one is computed.
          if (p + 1 < count && ++ow == columns) {
            ow = 0;
            if (++oh == rows) {
              oh = 0;
              ++n;
            }
            row = ((n * in_blocks + channel / CHANNELS) * of.H + oh * SH - PT) * of.W;
          }
        }
      }
    }
    find_sums(&at, &of, src, border, filters, first, sums);

    // The text of the epilogue stands in one loop: it may be long, and PoCL compiles every copy.
    int n = first_image;
    int oh = first_row;
    int ow = first_column;
    for (int p = 0; p < count; ++p) {
      for (int b = 0; b < min(BLOCKS, out_blocks - b0); ++b) {
        const lanes_of_ints found = *(const lanes_of_ints*)(sums + (p * BLOCKS + b) * LANES);
        const int o = (b0 + b) * LANES;
        __global TYPE_dst* out = dst + ((n * out_blocks + b0 + b) * (OH * OW) + oh * OW + ow) * LANES;
        *(__global lanes_of_dst*)out = o + LANES <= O ? EPILOGUE_VECTOR(found, n, o, oh, ow)
                                                      : EPILOGUE_EDGE(found, n, o, oh, ow);
      }
      if (++ow == OW) {
        ow = 0;
        if (++oh == OH) {
          oh = 0;
          ++n;
        }
      }
    }
  }
}
#undef QUADS
#undef FLIP
#undef ADD_QUAD
#undef ADD_TAP
#undef IN_RUN
#undef IN_PLACE
