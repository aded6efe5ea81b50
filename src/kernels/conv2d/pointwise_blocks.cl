// SPDX-License-Identifier: Apache-2.0
//
// conv2d.pointwise_64, _48 and _32: dst[n,o,h,w] = EPILOGUE(sum over c of src[n,c,h,w] * weights[o,c]),
// a filter of one element at every pixel, for CPUs
//
//   src      NCHW16c      (((n*Q + c/16)*H + h)*W + w)*16 + c%16,   Q = ceil(C / 16)
//   weights  OIHW16i16o   ((o/16*Q + c/16)*16 + c%16)*16 + o%16
//   dst      NOHW16o      (((n*R + o/16)*H + h)*W + w)*16 + o%16,   R = ceil(O / 16); zero from O on
//
// Sixteen channels of a pixel are a vector in memory, so a layer reads what the layer before wrote, and
// nothing is ever packed but weights, once.
//
//                            weights of 16 channels
//                            o0        o0+16*BLOCKS
//                          c [16][16][16][16]        BLOCKS vectors are loaded
//        src, 16 channels      |   |   |   |
//              c               v   v   v   v
//      pixel   x     ---->   [16][16][16][16]        PIXELS numbers, one of each pixel, are multiplied
//      pixel   x     ---->   [16][16][16][16]        with all of them
//      pixel   x     ---->   [16][16][16][16]        BLOCKS * PIXELS accumulators
//
// A work-item takes many tiles of pixels for the same outputs, so their weights stay in its cache: those
// of 16*DEPTH channels; where there are more the sums wait in dst meanwhile. The last pixels of an image,
// fewer than PIXELS, are copied to `patch` on the way, the last one in place of those that do not exist.
//
// Channels that pad src may hold what they like, if finite: their weights are zero.
//
// The entries differ in BLOCKS and PIXELS: 24 accumulators each, for O that is a multiple of 64, 48 or
// of 32.
//
// Tunables: BLOCKS, PIXELS of a tile; DEPTH; how many work-items share the pixels is the global size.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory.
// `a * b + c` is left to the compiler to contract into one operation: PoCL's mad() is two.

// sum[p][b] += sixteen channels of PIXELS pixels, which begin at `pixels`, times weights. Padding of
// channels is multiplied as far as the next eight.
#define MULTIPLY(pixels)                                                                     \
  for (int i0 = 0; i0 < channels; i0 += 8) {                                                 \
    _Pragma("unroll") for (int i = 0; i < 8; ++i) {                                          \
      sixteen filter[BLOCKS];                                                                \
      _Pragma("unroll") for (int b = 0; b < BLOCKS; ++b) {                                   \
        filter[b] = *(__global const sixteen*)(filters[b] + (i0 + i) * 16);                  \
      }                                                                                      \
      _Pragma("unroll") for (int p = 0; p < PIXELS; ++p) {                                   \
        const float scalar = (pixels)[p * 16 + i0 + i];                                      \
        _Pragma("unroll") for (int b = 0; b < BLOCKS; ++b) sum[p][b] += scalar * filter[b];  \
      }                                                                                      \
    }                                                                                        \
  }

__kernel ATTRIBUTES void pointwise_blocks(ARGUMENTS) {
  // Sixteen floats that may start at any float, where OpenCL's float16 starts at 64 bytes only.
  typedef float sixteen __attribute__((ext_vector_type(16), aligned(4)));
  typedef float eight __attribute__((ext_vector_type(8), aligned(4)));
  __local float patch[PIXELS * 16];
  __local float sums[BLOCKS * PIXELS * 16];
  const int in_blocks = (C + 15) / 16;
  const int out_blocks = (O + 15) / 16;
  const int plane = H * W;
  const int tiles_each = (plane + PIXELS - 1) / PIXELS;
  const int tiles = N * tiles_each;
  const int items = get_global_size(0);
  const int first_tile = (int)((long)tiles * get_global_id(0) / items);
  const int last_tile = (int)((long)tiles * (get_global_id(0) + 1) / items);
  const int b0 = get_global_id(1) * BLOCKS;
  const int blocks = min(out_blocks - b0, BLOCKS);

  for (int s0 = 0; s0 < in_blocks; s0 += DEPTH) {
    const int s_end = min(s0 + DEPTH, in_blocks);
    for (int tile = first_tile; tile < last_tile; ++tile) {
      const int n = tile / tiles_each;
      const int pixel = tile % tiles_each * PIXELS;
      const int count = min(plane - pixel, PIXELS);
      __global float* to = dst + ((n * out_blocks + b0) * plane + pixel) * 16;

      sixteen sum[PIXELS][BLOCKS];
#pragma unroll
      for (int p = 0; p < PIXELS; ++p) {
#pragma unroll
        for (int b = 0; b < BLOCKS; ++b) {
          sum[p][b] = 0.0f;
          if (s0 > 0) {
            const int at = min(b, blocks - 1) * plane + min(p, count - 1);
            sum[p][b] = *(__global const sixteen*)(to + at * 16);
          }
        }
      }
      for (int s = s0; s < s_end; ++s) {
        __global const float* from = src + ((n * in_blocks + s) * plane + pixel) * 16;
        const int channels = min(C - s * 16, 16);
        __global const float* filters[BLOCKS];
#pragma unroll
        for (int b = 0; b < BLOCKS; ++b) {
          filters[b] = weights + ((b0 + min(b, blocks - 1)) * in_blocks + s) * 256;
        }
        if (count == PIXELS) {
          MULTIPLY(from)
        } else {
          for (int p = 0; p < PIXELS; ++p) {
            *(__local sixteen*)(patch + p * 16) =
                *(__global const sixteen*)(from + min(p, count - 1) * 16);
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
              *(__global sixteen*)(to + (b * plane + p) * 16) = sum[p][b];
            }
          }
        }
        continue;
      }
#pragma unroll
      for (int p = 0; p < PIXELS; ++p) {
#pragma unroll
        for (int b = 0; b < BLOCKS; ++b) {
          *(__local sixteen*)(sums + (p * BLOCKS + b) * 16) = sum[p][b];
        }
      }
      // The text of the epilogue stands in one loop: it may be long, and PoCL compiles every copy.
      int h = pixel / W;
      int w = pixel % W;
      for (int p = 0; p < count; ++p) {
        for (int b = 0; b < blocks; ++b) {
          __local float* found = sums + (p * BLOCKS + b) * 16;
          // The mask takes nothing away; it tells the compiler that o is a multiple of 16 and not
          // negative, so that EPILOGUE reads neighbours.
          const int o = (b0 + b) * 16 & 0xfffff0;
          sixteen result = *(__local const sixteen*)found;
          if (o + 16 <= O) {
#pragma unroll
            for (int l = 0; l < 16; ++l) result[l] = EPILOGUE(result[l], n, o + l, h, w);
          } else {
            int l = 0;
            if (o + 8 <= O) {
              eight lower = *(__local const eight*)found;
#pragma unroll
              for (; l < 8; ++l) lower[l] = EPILOGUE(lower[l], n, o + l, h, w);
              *(__local eight*)found = lower;
            }
            for (; l < O - o; ++l) {
              const float value = found[l];
              found[l] = EPILOGUE(value, n, o + l, h, w);
            }
            for (; l < 16; ++l) found[l] = 0.0f;
            result = *(__local const sixteen*)found;
          }
          *(__global sixteen*)(to + (b * plane + p) * 16) = result;
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
