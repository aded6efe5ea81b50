// SPDX-License-Identifier: Apache-2.0
//
// conv2d.pointwise_64, _48 and _32: dst[n,o,h,w] = EPILOGUE(sum over c of src[n,c,h,w] * weights[o,c]),
// a filter of one element at every pixel, for CPUs
//
//   src      NCHW{L}c       (((n*Q + c/L)*H + h)*W + w)*L + c%L,   Q = ceil(C / L)
//   weights  OIHW{L}i{L}o   ((o/L*Q + c/L)*L + c%L)*L + o%L
//   dst      NOHW{L}o       (((n*R + o/L)*H + h)*W + w)*L + o%L,   R = ceil(O / L); zero from O on
//
// L channels of a pixel are a vector in memory, so a layer reads what the layer before wrote, and
// nothing is ever packed but weights, once.
//
//                            weights of L channels
//                            o0        o0+L*BLOCKS
//                          c [L ][L ][L ][L ]        BLOCKS vectors are loaded
//        src, L channels       |   |   |   |
//              c               v   v   v   v
//      pixel   x     ---->   [L ][L ][L ][L ]        PIXELS numbers, one of each pixel, are multiplied
//      pixel   x     ---->   [L ][L ][L ][L ]        with all of them
//      pixel   x     ---->   [L ][L ][L ][L ]        BLOCKS * PIXELS accumulators
//
// A work-item takes many tiles of pixels for the same outputs, so their weights stay in its cache: those
// of L*DEPTH channels; where there are more the sums wait in dst meanwhile. The last pixels of an image,
// fewer than PIXELS, are copied to `patch` on the way, the last one in place of those that do not exist.
//
// Channels that pad src may hold what they like, if finite: their weights are zero.
//
// The entries differ in BLOCKS and PIXELS. Three quarters of the registers are accumulators. With
// vectors of 16 they suit O that is a multiple of 64, 48 or of 32.
//
// Tunables: LANES, the L above: floats of a vector;
// BLOCKS, PIXELS of a tile; DEPTH; how many work-items share the pixels is the global size.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory.
// `a * b + c` is left to the compiler to contract into one operation: PoCL's mad() is two.

// Channels of a step that are unrolled; padding is multiplied as far as these.
#define UNROLLED (LANES < 8 ? LANES : 8)
// sum[p][b] += L channels of PIXELS pixels, which begin at `pixels`, times weights.
#define MULTIPLY(pixels)                                                                    \
  for (int i0 = 0; i0 < channels; i0 += UNROLLED) {                                         \
    _Pragma("unroll") for (int i = 0; i < UNROLLED; ++i) {                                  \
      vector filter[BLOCKS];                                                                \
      _Pragma("unroll") for (int b = 0; b < BLOCKS; ++b) {                                  \
        filter[b] = vector_at(filters[b] + (i0 + i) * LANES);                               \
      }                                                                                     \
      _Pragma("unroll") for (int p = 0; p < PIXELS; ++p) {                                  \
        const float scalar = number_at((pixels) + p * LANES + i0 + i);                      \
        _Pragma("unroll") for (int b = 0; b < BLOCKS; ++b) sum[p][b] += scalar * filter[b]; \
      }                                                                                     \
    }                                                                                       \
  }

__kernel ATTRIBUTES void pointwise_blocks(ARGUMENTS) {
  __local float patch[PIXELS * LANES];
  __local float sums[BLOCKS * PIXELS * LANES];
  const int in_blocks = (C + LANES - 1) / LANES;
  const int out_blocks = (O + LANES - 1) / LANES;
  const int plane = H * W;
  const int tiles_each = (plane + PIXELS - 1) / PIXELS;
  const int tiles = N * tiles_each;
  const int items = get_global_size(0);
  const int first_tile = (int)((long)tiles * get_global_id(0) / items);
  const int last_tile = (int)((long)tiles * (get_global_id(0) + 1) / items);
  const int b0 = get_global_id(1) * BLOCKS;
  const int blocks = min(out_blocks - b0, BLOCKS);

  // Sums wait in dst, which must not round them; numbers of pixels are read one by one, which takes floats.
  const int depth = sizeof(*dst) == sizeof(float) ? DEPTH : in_blocks;
  const int is_float = sizeof(*src) == sizeof(float);

  for (int s0 = 0; s0 < in_blocks; s0 += depth) {
    const int s_end = min(s0 + depth, in_blocks);
    for (int tile = first_tile; tile < last_tile; ++tile) {
      const int n = tile / tiles_each;
      const int pixel = tile % tiles_each * PIXELS;
      const int count = min(plane - pixel, PIXELS);
      __global MEMORY_dst* to = dst + ((n * out_blocks + b0) * plane + pixel) * LANES;

      vector sum[PIXELS][BLOCKS];
#pragma unroll
      for (int p = 0; p < PIXELS; ++p) {
#pragma unroll
        for (int b = 0; b < BLOCKS; ++b) {
          sum[p][b] = 0.0f;
          if (s0 > 0) {
            const int at = min(b, blocks - 1) * plane + min(p, count - 1);
            sum[p][b] = vector_at(to + at * LANES);
          }
        }
      }
      for (int s = s0; s < s_end; ++s) {
        __global const MEMORY_src* from = src + ((n * in_blocks + s) * plane + pixel) * LANES;
        const int channels = min(C - s * LANES, LANES);
        __global const MEMORY_weights* filters[BLOCKS];
#pragma unroll
        for (int b = 0; b < BLOCKS; ++b) {
          filters[b] = weights + ((b0 + min(b, blocks - 1)) * in_blocks + s) * (LANES * LANES);
        }
        if (is_float && count == PIXELS) {
          MULTIPLY(from)
        } else {
          for (int p = 0; p < PIXELS; ++p) {
            *(__local vector*)(patch + p * LANES) = vector_at(from + min(p, count - 1) * LANES);
          }
          MULTIPLY(patch)
        }
      }

      if (s_end < in_blocks) {
#pragma unroll
        for (int p = 0; p < PIXELS; ++p) {
#pragma unroll
          for (int b = 0; b < BLOCKS; ++b) {
            if ((p < count) & (b < blocks)) {
              put_vector(to + (b * plane + p) * LANES, sum[p][b]);
            }
          }
        }
        continue;
      }
      keep_pixels(sum, sums);
      // The text of the epilogue stands in one loop: it may be long, and PoCL compiles every copy.
      int h = pixel / W;
      int w = pixel % W;
      for (int p = 0; p < count; ++p) {
        for (int b = 0; b < blocks; ++b) {
          const vector found = *(__local const vector*)(sums + (p * BLOCKS + b) * LANES);
          const int o = (b0 + b) * LANES;
          put_vector(to + (b * plane + p) * LANES,
                     FINISHED_LANES(o, O, EPILOGUE_VECTOR(found, n, o, h, w),
                                    EPILOGUE_EDGE(found, n, o, h, w)));
        }
        if (++w == W) {
          w = 0;
          ++h;
        }
      }
    }
  }
}
#undef MULTIPLY
#undef UNROLLED
