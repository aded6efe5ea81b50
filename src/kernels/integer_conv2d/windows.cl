// SPDX-License-Identifier: Apache-2.0
//
// integer_conv2d.windows: dst[n,o,oh,ow] = EPILOGUE(sum over i, kh, kw of
//     code[n, o/(O/G)*I + i, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[o,i,kh,kw]),
// where code is src within the image and border[c] outside of it, for GPUs.
//
//   src      NCHW{B}c           (((n*Q + c/B)*H + h)*W + w)*B + c%B,   Q = ceil(C / B)
//   weights  OHWI{B/4}i{T}o4i   (((((o/T*KH + kh)*KW + kw)*P + i/B)*(B/4) + i%B/4)*T + o%T)*4 + i%4,   P = ceil(I / B)
//   border   C{B}c              c
//   dst      NOHW{B}o           (((n*R + o/B)*OH + oh)*OW + ow)*B + o%B,   R = O_pad / B
//
//                             weights: four channels of OUTPUTS outputs, the same for all of a work-group
//                             o     o+OUTPUTS
//         src  i .. i+B-1    [q q q q]
//       pixel     q q  ---->  [+ + + +]        q: four bytes, one number of 32 bits
//       pixel     q q  ---->  [+ + + +]        ROWS x OUTPUTS sums for each work-item
//
// Work-groups are numbered 256 along the first dimension, then along the third. Each takes ROWS * LOCAL neighbouring pixels
// of dst, through rows and images. A work-item's own are LOCAL apart, so that neighbours read neighbours. A window's
// position outside of the image reads the border, which holds the same for each of its steps.
//
// Where codes change their sign (shared/code_dots.clh), the sums of the weights make up for it. All of it is exact. Of
// several groups each begins with a block of outputs and with a block of channels.
//
// Tunables: ROWS, pixels of a work-item; OUTPUTS (the T above); BLOCK (the B), channels that lie together; LOCAL, work-items
// of a work-group; PTX and DOTS, whether the device takes NVIDIA's instruction or another; SIGNED, whether codes have signs
// as they are multiplied.
#define FLIPS (HAS_SIGNS(TYPE_src) != SIGNED)
#if FLIPS
#define CODES_OF(v) FLIPPED_SIGNS(v)
#define BEGIN_WITH(o) ((SIGNED ? 128 : -128) * weight_sums[o])
#else
#define CODES_OF(v) (v)
#define BEGIN_WITH(o) 0
#endif
#define AS_THEY_ARE(v) (v)
#define PUT_PIXEL(p)                                                                                       \
  if (first + (p) * LOCAL < pixels) {                                                                      \
    PUT4_dst((at[p] + (uint)o / BLOCK * (OH * OW)) * (BLOCK / 4) + (uint)o % BLOCK / 4,                                \
             (CODES_JOINED(TYPE_dst, 4))(finished[p][0], finished[p][1], finished[p][2], finished[p][3])); \
  }

__kernel ATTRIBUTES void integer_windows(ARGUMENTS) {
  const int o0 = get_global_id(1) * OUTPUTS;
  const int group = get_group_id(2) * 256 + get_group_id(0);
  const int first = group * (ROWS * LOCAL) + get_local_id(0);
  const int pixels = N * OH * OW;
  const uint in_blocks = ((uint)C + BLOCK - 1) / BLOCK;
  const uint blocks = ((uint)I + BLOCK - 1) / BLOCK;
  const uint channel = (uint)(quotient(o0 * G, O) * I);
  ulong filter = (ulong)weights + (uint)o0 * (KH * KW) * blocks * BLOCK;
#if FLIPS
  __local int weight_sums[OUTPUTS];
  SUM_WEIGHTS(weight_sums, filter, KH * KW * blocks * (BLOCK / 4), AS_THEY_ARE)
#endif
  // The upper left of each pixel's window: row and column as halves of a number, and the place of its column in src.
  int corner[ROWS];
  int place[ROWS];
  int sum[ROWS][OUTPUTS];
#pragma unroll
  for (int p = 0; p < ROWS; ++p) {
    const int pixel = min(first + p * LOCAL, pixels - 1);
    const int line = large_quotient(pixel, OW);
    const int n = quotient(line, OH);
    const int row = (line - n * OH) * SH - PT;
    const int column = (pixel - line * OW) * SW - PL;
    corner[p] = (row << 16) | (column & 0xffff);
    place[p] = ((n * in_blocks + channel / BLOCK) * H + row) * W;
#pragma unroll
    for (int o = 0; o < OUTPUTS; ++o) sum[p][o] = BEGIN_WITH(o);
  }

  for (int kh = 0; kh < KH; ++kh) {
    // Columns of a row outside of the image are beyond its width.
    int w[ROWS];
    uint row_at[ROWS];
#pragma unroll
    for (int p = 0; p < ROWS; ++p) {
      const int h = (corner[p] >> 16) + kh * DH;
      const int is_outside = -(int)((uint)h >= (uint)H);
      w[p] = select((int)(short)corner[p], 0x40000000, is_outside);
      row_at[p] = (uint)(place[p] + kh * DH * W) * BLOCK;
    }
    for (int kw = 0; kw < KW; ++kw) {
      // Without a branch: loops with one are not unrolled everywhere, and these would lie in memory.
      ulong from[ROWS];
      uint apart[ROWS];
#pragma unroll
      for (int p = 0; p < ROWS; ++p) {
        const uint is_inside = -(uint)((uint)w[p] < (uint)W);
        from[p] = select((ulong)border, (ulong)src, (ulong)0 - (is_inside & 1)) + select((uint)channel, row_at[p] + (uint)w[p] * BLOCK, is_inside);
        apart[p] = select((uint)BLOCK, (uint)(H * W) * BLOCK, is_inside);
        w[p] += DW;
      }
      for (uint b = 0; b < blocks; ++b) {
        CODE_WORDS codes[ROWS];
#pragma unroll
        for (int p = 0; p < ROWS; ++p) {
          codes[p] = CODES_OF(CODES_AT(from[p]));
          from[p] += apart[p];
        }
        ADD_BLOCK(sum, codes, filter, AS_THEY_ARE)
      }
    }
  }

  // Four outputs of all pixels at once share what the epilogue reads of each output. Outputs move up instead of being
  // indexed, so that they stay in registers. Those beyond the last are padding of dst.
  uint at[ROWS];
  int n[ROWS];
  int oh[ROWS];
  int ow[ROWS];
#pragma unroll
  for (int p = 0; p < ROWS; ++p) {
    const int pixel = min(first + p * LOCAL, pixels - 1);
    const int line = large_quotient(pixel, OW);
    n[p] = quotient(line, OH);
    oh[p] = line - n[p] * OH;
    ow[p] = pixel - line * OW;
    at[p] = (n[p] * ((uint)O_pad / BLOCK) * OH + oh[p]) * OW + ow[p];
  }
  for (int o = o0; o < min(o0 + OUTPUTS, O); o += 4) {
    TYPE_dst finished[ROWS][4];
#pragma unroll
    for (int p = 0; p < ROWS; ++p) {
#pragma unroll
      for (int i = 0; i < 4; ++i) finished[p][i] = EPILOGUE(sum[p][i], n[p], min(o + i, O - 1), oh[p], ow[p]);
    }
    PUT_PIXEL(0)
#if ROWS > 1
    PUT_PIXEL(1)
#endif
#if ROWS > 2
    PUT_PIXEL(2)
    PUT_PIXEL(3)
#endif
#pragma unroll
    for (int p = 0; p < ROWS; ++p) {
#pragma unroll
      for (int i = 4; i < OUTPUTS; ++i) sum[p][i - 4] = sum[p][i];
    }
  }
}
#undef FLIPS
#undef CODES_OF
#undef BEGIN_WITH
#undef AS_THEY_ARE
#undef PUT_PIXEL
