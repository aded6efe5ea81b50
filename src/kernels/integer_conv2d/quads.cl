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
// Tunables: LANES, the L above; CHANNELS, the D above: LANES, or 4 for images of few channels; BLOCKS, PIXELS of a tile;
// BYTE_PRODUCTS (see byte_dots.clh); GROUPS, work-items for each compute unit.
// Assumes: a work-group of one work-item.
__kernel ATTRIBUTES void integer_quads(ARGUMENTS) {
  typedef TYPE_dst lanes_of_dst __attribute__((ext_vector_type(LANES), aligned(1)));
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

  int tile = share(tiles, get_global_id(0), get_global_size(0));
  // The pixel that comes next.
  int next_n = tile * PIXELS / (OH * OW);
  int next_oh = tile * PIXELS / OW % OH;
  int next_ow = tile * PIXELS % OW;
  for (; tile < last_tile; ++tile) {
    const int count = min(pixels - tile * PIXELS, PIXELS);
    tile_windows at;
    {
      int n = next_n;
      int oh = is_flat ? 0 : next_oh;
      int ow = is_flat ? next_oh * OW + next_ow : next_ow;
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

    // By stretches of a row and blocks, so that what the epilogue reads of a block stays in registers. Its text stands
    // once for whole blocks and once for the last: it may be long, and PoCL compiles every copy.
    for (int p = 0; p < count;) {
      const int length = min(count - p, OW - next_ow);
      for (int b = 0; b < min(BLOCKS, out_blocks - b0); ++b) {
        const int o = (b0 + b) * LANES;
        const int* found = sums + (p * BLOCKS + b) * LANES;
        __global TYPE_dst* out =
            dst + ((next_n * out_blocks + b0 + b) * (OH * OW) + next_oh * OW + next_ow) * LANES;
        if (o + LANES <= O) {
          for (int i = 0; i < length; ++i) {
            const lanes_of_ints sum = *(const lanes_of_ints*)(found + i * (BLOCKS * LANES));
            *(__global lanes_of_dst*)(out + i * LANES) = EPILOGUE_VECTOR(sum, next_n, o, next_oh, next_ow + i);
          }
        } else {
          for (int i = 0; i < length; ++i) {
            const lanes_of_ints sum = *(const lanes_of_ints*)(found + i * (BLOCKS * LANES));
            *(__global lanes_of_dst*)(out + i * LANES) = EPILOGUE_EDGE(sum, next_n, o, next_oh, next_ow + i);
          }
        }
      }
      p += length;
      next_ow += length;
      if (next_ow < OW) continue;
      next_ow = 0;
      if (++next_oh < OH) continue;
      next_oh = 0;
      ++next_n;
    }
  }
}
