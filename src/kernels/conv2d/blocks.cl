// SPDX-License-Identifier: Apache-2.0
//
// conv2d.blocks_64, _32 and _16: dst[n,o,oh,ow] = EPILOGUE(sum over i, kh, kw of
//     src[n, o/(O/G)*I + i, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[o,i,kh,kw]), for CPUs
//
//   src      NCHW{L}c       (((n*Q + c/L)*H + h)*W + w)*L + c%L,   Q = ceil(C / L)
//   weights  OIHW{L}i{L}o   ((((o/L*P + i/L)*KH + kh)*KW + kw)*L + i%L)*L + o%L,   P = ceil(I / L)
//   dst      NOHW{L}o       (((n*R + o/L)*OH + oh)*OW + ow)*L + o%L,   R = ceil(O / L); zero from O on
//
// L channels of a pixel are a vector in memory, so a layer reads what the layer before wrote, and
// nothing is ever packed but weights, once.
//
//                                weights of one tap and L channels
//                                o0        o0+L*BLOCKS
//                              i [L ][L ][L ][L ]        a row of vectors, BLOCKS of them
//       patch, PIXELS x L         |   |   |   |
//                  i               v   v   v   v
//       pixel      x     ---->   [L ][L ][L ][L ]        BLOCKS * PIXELS accumulators; each number of a
//       pixel      x     ---->   [L ][L ][L ][L ]        pixel is multiplied with BLOCKS vectors
//       pixel      x     ---->   [L ][L ][L ][L ]
//
// A tile is PIXELS pixels of dst, one after another through rows and images. A step is one position of
// the filter and L channels: the PIXELS vectors of src that it needs are copied to `patch`, zeros for
// those outside of the image, whatever the stride, which costs 2 / (L*BLOCKS) of the multiplications.
//
// A work-item takes many tiles for the same outputs, so the weights of DEPTH steps stay in its cache;
// where there are more steps the sums wait in dst meanwhile. Where dst holds halves, which would round them, all
// steps are one part.
//
// Channels that pad src may hold what they like, if finite: their weights are zero.
//
// The entries differ in BLOCKS and PIXELS, which together fill the registers (docs/gemm.md). With vectors
// of 16 they suit O that is a multiple of 64, of 32 or of 16. Of several groups each begins with a block,
// and a tile of blocks lies in one group.
//
// The filter, its strides and its padding are arguments: one kernel serves all convolutions of an epilogue.
//
// Tunables: LANES, the L above: floats of a vector;
// BLOCKS, PIXELS of a tile; DEPTH, steps for which weights are kept; how many work-items share
// the pixels is the global size.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory.
// `a * b + c` is left to the compiler to contract into one operation: PoCL's mad() is two.
#define TAPS (KH * KW)
// Channels of a step that are unrolled; padding is multiplied as far as these.
#define UNROLLED (LANES < 8 ? LANES : 8)

__kernel ATTRIBUTES void blocks(ARGUMENTS) {
  __local float patch[PIXELS * LANES];
  __local float sums[BLOCKS * PIXELS * LANES];
  const int in_blocks = (I + LANES - 1) / LANES;
  const int out_blocks = (O + LANES - 1) / LANES;
  const int steps = in_blocks * TAPS;
  const int depth = sizeof(*dst) == sizeof(float) ? DEPTH : steps;
  const int pixels = N * OH * OW;
  const int tiles = (pixels + PIXELS - 1) / PIXELS;
  const int items = get_global_size(0);
  const int first_tile = (int)((long)tiles * get_global_id(0) / items);
  const int last_tile = (int)((long)tiles * (get_global_id(0) + 1) / items);
  const int b0 = get_global_id(1) * BLOCKS;
  const int image_blocks = (C + LANES - 1) / LANES;
  const int group_blocks = G == 1 ? 0 : b0 * LANES / (O / G) * in_blocks;

  for (int s0 = 0; s0 < steps; s0 += depth) {
    const int s_end = min(s0 + depth, steps);
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

      vector sum[PIXELS][BLOCKS];
      clear_pixels(sum);
      if (s0 > 0) {
#pragma unroll
        for (int p = 0; p < PIXELS; ++p) {
          const int pixel = row[p] * OW + column[p];
#pragma unroll
          for (int b = 0; b < BLOCKS; ++b) {
            const int block = image[p] * out_blocks + min(b0 + b, out_blocks - 1);
            sum[p][b] = vector_at(dst + (block * (OH * OW) + pixel) * LANES);
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
          vector found = 0.0f;
          if ((h >= 0) & (h < H) & (w >= 0) & (w < W)) {
            const int plane = image[p] * image_blocks + group_blocks + in_block;
            found = vector_at(src + ((plane * H + h) * W + w) * LANES);
          }
          *(__local vector*)(patch + p * LANES) = found;
        }
        __global const MEMORY_weights* filters[BLOCKS];
#pragma unroll
        for (int b = 0; b < BLOCKS; ++b) {
          filters[b] = weights + (min(b0 + b, out_blocks - 1) * steps + s) * (LANES * LANES);
        }
        const int channels = min(I - in_block * LANES, LANES);
        for (int i0 = 0; i0 < channels; i0 += UNROLLED) {
#pragma unroll
          for (int i = 0; i < UNROLLED; ++i) {
            vector filter[BLOCKS];
#pragma unroll
            for (int b = 0; b < BLOCKS; ++b) {
              filter[b] = vector_at(filters[b] + (i0 + i) * LANES);
            }
            multiply_pixels(sum, patch + i0 + i, LANES, filter);
          }
        }
      }
      keep_pixels(sum, sums);

      // The text of the epilogue stands in one loop: it may be long, and PoCL compiles every copy.
      for (int p = 0; p < count; ++p) {
        for (int b = 0; b < min(BLOCKS, out_blocks - b0); ++b) {
          const int pixel = row[p] * OW + column[p];
          const vector found = *(__local const vector*)(sums + (p * BLOCKS + b) * LANES);
          __global MEMORY_dst* out =
              dst + ((image[p] * out_blocks + b0 + b) * (OH * OW) + pixel) * LANES;
          const int o = (b0 + b) * LANES;
          vector result = found;
          if (s_end == steps) {
            result = FINISHED_LANES(o, O, EPILOGUE_VECTOR(found, image[p], o, row[p], column[p]),
                                    EPILOGUE_EDGE(found, image[p], o, row[p], column[p]));
          }
          put_vector(out, result);
        }
      }
    }
  }
}
#undef TAPS
#undef UNROLLED
