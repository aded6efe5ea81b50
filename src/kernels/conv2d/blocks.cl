// SPDX-License-Identifier: Apache-2.0
//
// conv2d.blocks_64, _32 and _16: dst[n,o,oh,ow] = EPILOGUE(sum over i, kh, kw of
//     src[n, o/(O/G)*I + i, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[o,i,kh,kw]), for CPUs
//
//   src      NCHW16c      (((n*Q + c/16)*H + h)*W + w)*16 + c%16,   Q = ceil(C / 16)
//   weights  OIHW16i16o   ((((o/16*P + i/16)*KH + kh)*KW + kw)*16 + i%16)*16 + o%16,   P = ceil(I / 16)
//   dst      NOHW16o      (((n*R + o/16)*OH + oh)*OW + ow)*16 + o%16,   R = ceil(O / 16); zero from O on
//
// Sixteen channels of a pixel are a vector in memory, so a layer reads what the layer before wrote, and
// nothing is ever packed but weights, once.
//
//                                weights of one tap and 16 channels
//                                o0        o0+16*BLOCKS
//                              i [16][16][16][16]        a row of vectors, BLOCKS of them
//       patch, PIXELS x 16         |   |   |   |
//                  i               v   v   v   v
//       pixel      x     ---->   [16][16][16][16]        BLOCKS * PIXELS accumulators; each number of a
//       pixel      x     ---->   [16][16][16][16]        pixel is multiplied with BLOCKS vectors
//       pixel      x     ---->   [16][16][16][16]
//
// A tile is PIXELS pixels of dst, one after another through rows and images. A step is one position of
// the filter and 16 channels: the PIXELS vectors of src that it needs are copied to `patch`, zeros for
// those outside of the image, whatever the stride, which costs 1 / (8*BLOCKS) of the multiplications.
//
// A work-item takes many tiles for the same outputs, so the weights of DEPTH steps stay in its cache;
// where there are more steps the sums wait in dst meanwhile.
//
// Channels that pad src may hold what they like, if finite: their weights are zero.
//
// The entries differ in BLOCKS and PIXELS, for O that is a multiple of 64, of 32 or of 16. Of several
// groups each begins with a block, and a tile of blocks lies in one group.
//
// The filter, its strides and its padding are arguments: one kernel serves all convolutions of an epilogue.
//
// Tunables: BLOCKS, PIXELS of a tile; DEPTH, steps for which weights are kept; how many work-items share
// the pixels is the global size.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory.
// `a * b + c` is left to the compiler to contract into one operation: PoCL's mad() is two.
#define TAPS (KH * KW)

__kernel ATTRIBUTES void blocks(ARGUMENTS) {
  // Sixteen floats that may start at any float, where OpenCL's float16 starts at 64 bytes only.
  typedef float sixteen __attribute__((ext_vector_type(16), aligned(4)));
  __local float patch[PIXELS * 16];
  __local float sums[BLOCKS * PIXELS * 16];
  const int in_blocks = (I + 15) / 16;
  const int out_blocks = (O + 15) / 16;
  const int steps = in_blocks * TAPS;
  const int pixels = N * OH * OW;
  const int tiles = (pixels + PIXELS - 1) / PIXELS;
  const int items = get_global_size(0);
  const int first_tile = (int)((long)tiles * get_global_id(0) / items);
  const int last_tile = (int)((long)tiles * (get_global_id(0) + 1) / items);
  const int b0 = get_global_id(1) * BLOCKS;
  const int image_blocks = (C + 15) / 16;
  const int group_blocks = G == 1 ? 0 : b0 * 16 / (O / G) * in_blocks;

  for (int s0 = 0; s0 < steps; s0 += DEPTH) {
    const int s_end = min(s0 + DEPTH, steps);
    for (int tile = first_tile; tile < last_tile; ++tile) {
      const int count = min(pixels - tile * PIXELS, PIXELS);
      int image[PIXELS];
      int row[PIXELS];
      int column[PIXELS];
      {
        int n = tile * PIXELS / (OH * OW);
        int oh = tile * PIXELS / OW % OH;
        int ow = tile * PIXELS % OW;
#pragma unroll
        for (int p = 0; p < PIXELS; ++p) {
          image[p] = n;
          row[p] = oh;
          column[p] = ow;
          // In place of pixels that do not exist the last one is computed.
          if (p + 1 < count && ++ow == OW) {
            ow = 0;
            if (++oh == OH) {
              oh = 0;
              ++n;
            }
          }
        }
      }

      sixteen sum[PIXELS][BLOCKS];
#pragma unroll
      for (int p = 0; p < PIXELS; ++p) {
#pragma unroll
        for (int b = 0; b < BLOCKS; ++b) sum[p][b] = 0.0f;
      }
      if (s0 > 0) {
#pragma unroll
        for (int p = 0; p < PIXELS; ++p) {
          const int pixel = row[p] * OW + column[p];
#pragma unroll
          for (int b = 0; b < BLOCKS; ++b) {
            const int block = image[p] * out_blocks + min(b0 + b, out_blocks - 1);
            sum[p][b] = *(__global const sixteen*)(dst + (block * (OH * OW) + pixel) * 16);
          }
        }
      }

      for (int s = s0; s < s_end; ++s) {
        const int in_block = s / TAPS;
        const int down = s % TAPS / KW * DH - PT;
        const int across = s % KW * DW - PL;
#pragma unroll
        for (int p = 0; p < PIXELS; ++p) {
          const int h = row[p] * SH + down;
          const int w = column[p] * SW + across;
          sixteen found = 0.0f;
          if ((h >= 0) & (h < H) & (w >= 0) & (w < W)) {
            const int plane = image[p] * image_blocks + group_blocks + in_block;
            found = *(__global const sixteen*)(src + ((plane * H + h) * W + w) * 16);
          }
          *(__local sixteen*)(patch + p * 16) = found;
        }
        __global const float* filters[BLOCKS];
#pragma unroll
        for (int b = 0; b < BLOCKS; ++b) {
          filters[b] = weights + (min(b0 + b, out_blocks - 1) * steps + s) * 256;
        }
        const int channels = min(I - in_block * 16, 16);
        for (int i0 = 0; i0 < channels; i0 += 8) {
#pragma unroll
          for (int i = 0; i < 8; ++i) {
            sixteen filter[BLOCKS];
#pragma unroll
            for (int b = 0; b < BLOCKS; ++b) {
              filter[b] = *(__global const sixteen*)(filters[b] + (i0 + i) * 16);
            }
#pragma unroll
            for (int p = 0; p < PIXELS; ++p) {
              const float scalar = patch[p * 16 + i0 + i];
#pragma unroll
              for (int b = 0; b < BLOCKS; ++b) sum[p][b] += scalar * filter[b];
            }
          }
        }
      }
#pragma unroll
      for (int p = 0; p < PIXELS; ++p) {
#pragma unroll
        for (int b = 0; b < BLOCKS; ++b) {
          *(__local sixteen*)(sums + (p * BLOCKS + b) * 16) = sum[p][b];
        }
      }

      // The text of the epilogue stands in one loop: it may be long, and PoCL compiles every copy.
      for (int p = 0; p < count; ++p) {
        for (int b = 0; b < min(BLOCKS, out_blocks - b0); ++b) {
          const int pixel = row[p] * OW + column[p];
          const sixteen found = *(__local const sixteen*)(sums + (p * BLOCKS + b) * 16);
          __global float* out =
              dst + ((image[p] * out_blocks + b0 + b) * (OH * OW) + pixel) * 16;
          // The mask takes nothing away; it tells the compiler that o is a multiple of 16 and not
          // negative, so that EPILOGUE reads neighbours.
          const int o = (b0 + b) * 16 & 0xfffff0;
          sixteen result = found;
          if (s_end == steps) {
            if (o + 16 <= O) {
#pragma unroll
              for (int l = 0; l < 16; ++l) {
                result[l] = EPILOGUE(found[l], image[p], o + l, row[p], column[p]);
              }
            } else {
              for (int l = 0; l < 16; ++l) {
                const float value = sums[(p * BLOCKS + b) * 16 + l];
                sums[(p * BLOCKS + b) * 16 + l] =
                    o + l < O ? EPILOGUE(value, image[p], o + l, row[p], column[p]) : 0.0f;
              }
              result = *(__local const sixteen*)(sums + (p * BLOCKS + b) * 16);
            }
          }
          *(__global sixteen*)out = result;
        }
      }
    }
  }
}
#undef TAPS
