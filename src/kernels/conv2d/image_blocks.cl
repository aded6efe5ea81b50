// SPDX-License-Identifier: Apache-2.0
//
// conv2d.image_64 and _32: dst[n,o,oh,ow] = EPILOGUE(sum over c, kh, kw of
//     src[n, c, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[o,c,kh,kw]), of few channels, for CPUs:
// a network's first layer, from the image as it is given to what conv2d.pointwise_64 and its kin read
//
//   src      NCHW      ((n*C + c)*H + h)*W + w
//   weights  OIHW{L}o   (((o/L*C + c)*KH + kh)*KW + kw)*L + o%L
//   dst      NOHW{L}o   (((n*R + o/L)*OH + oh)*OW + ow)*L + o%L,   R = ceil(O / L); zero from O on
//
//                                weights of c, kh, kw
//                                o0        o0+L*BLOCKS
//       strip: a stretch of      [L ][L ][L ][L ]       BLOCKS vectors are loaded
//       a row of src               |   |   |   |
//       pixel 0   x                v   v   v   v
//                 .         -->  [L ][L ][L ][L ]       each is multiplied with PIXELS numbers, SW apart
//       pixel 1   x         -->  [L ][L ][L ][L ]
//                 .
//       pixel 2   x         -->  [L ][L ][L ][L ]       BLOCKS * PIXELS accumulators
//
// A tile is PIXELS neighbours of a row of dst. The strips of src under it, one for each c and kh, are
// copied to local memory with zeros for what lies outside of the image, and serve all outputs.
//
// The entries differ in BLOCKS and PIXELS: with vectors of 16 for O that is a multiple of 64 or of 32.
//
// Tunables: LANES, the L above: floats of a vector;
// BLOCKS, PIXELS of a tile; GROUPS, work-items for each compute unit at most; STRIPS, elements of all strips.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory.
// `a * b + c` is left to the compiler to contract into one operation: PoCL's mad() is two.

// Elements that `pixels` of dst need of a strip; those of a strip, whole vectors.
#define NEEDED(pixels) (((pixels) - 1) * SW + (KW - 1) * DW + 1)
#define STRIP (((PIXELS - 1) * SW + (KW - 1) * DW + LANES) / LANES * LANES)

__kernel ATTRIBUTES void image_blocks(ARGUMENTS) {
  __local float strips[STRIPS];
  __local float sums[BLOCKS * PIXELS * LANES];
  const int out_blocks = (O + LANES - 1) / LANES;
  const int taps = C * (KH * KW);
  const int tiles_across = (OW + PIXELS - 1) / PIXELS;
  const int tiles = N * OH * tiles_across;
  const int items = get_global_size(0);
  const int last_tile = (int)((long)tiles * (get_global_id(0) + 1) / items);
  for (int tile = (int)((long)tiles * get_global_id(0) / items); tile < last_tile; ++tile) {
    const int ow0 = tile % tiles_across * PIXELS;
    const int count = min(OW - ow0, PIXELS);
    const int oh = tile / tiles_across % OH;
    const int n = tile / tiles_across / OH;
    const int w0 = ow0 * SW - PL;
    for (int c = 0; c < C; ++c) {
#pragma unroll
      for (int kh = 0; kh < KH; ++kh) {
        __local float* strip = strips + (c * KH + kh) * STRIP;
        const int h = oh * SH - PT + kh * DH;
        const int from = ((n * C + c) * H + h) * W + w0;
        const int is_row = (h >= 0) & (h < H);
        // What vectors read beyond the row's end nobody needs; beyond src they must not.
        const int is_inside = (w0 >= 0) & (w0 + NEEDED(count) <= W) & (from + STRIP <= N * C * H * W);
        if (is_row & is_inside) {
#pragma unroll
          for (int x = 0; x < STRIP; x += LANES) {
            *(__local vector*)(strip + x) = vector_at(src + from + x);
          }
        } else {
          for (int x = 0; x < STRIP; ++x) {
            strip[x] = (is_row & (w0 + x >= 0) & (w0 + x < W)) ? number_at(src + from + x) : 0.0f;
          }
        }
      }
    }

    for (int b0 = 0; b0 < out_blocks; b0 += BLOCKS) {
      const int blocks = min(out_blocks - b0, BLOCKS);
      vector sum[PIXELS][BLOCKS];
      clear_pixels(sum);
      for (int row = 0; row < C * KH; ++row) {
        __local const float* strip = strips + row * STRIP;
        __global const MEMORY_weights* filters[BLOCKS];
#pragma unroll
        for (int b = 0; b < BLOCKS; ++b) {
          filters[b] = weights + ((b0 + min(b, blocks - 1)) * taps + row * KW) * LANES;
        }
#pragma unroll
        for (int kw = 0; kw < KW; ++kw) {
          vector filter[BLOCKS];
#pragma unroll
          for (int b = 0; b < BLOCKS; ++b) {
            filter[b] = vector_at(filters[b] + kw * LANES);
          }
          multiply_pixels(sum, strip + kw * DW, SW, filter);
        }
      }
      keep_pixels(sum, sums);

      // The text of the epilogue stands in one loop: it may be long, and PoCL compiles every copy.
      for (int p = 0; p < count; ++p) {
        for (int b = 0; b < blocks; ++b) {
          const int block = b0 + b;
          const int o = block * LANES;
          const vector found = *(__local const vector*)(sums + (p * BLOCKS + b) * LANES);
          const int at = ((n * out_blocks + block) * OH + oh) * OW + ow0 + p;
          put_vector(dst + at * LANES,
                     FINISHED_LANES(o, O, EPILOGUE_VECTOR(found, n, o, oh, ow0 + p),
                                    EPILOGUE_EDGE(found, n, o, oh, ow0 + p)));
        }
      }
    }
  }
}
#undef NEEDED
#undef STRIP
