// SPDX-License-Identifier: Apache-2.0
//
// winograd_output.blocks: the OUT x OUT results A' m A of tile t and channel o, of its P x P products
// m = src[:,o,t], P = OUT + 2, OUT = 2 or 4, into dst[n,o,oh,ow] = EPILOGUE(result), for CPUs.
//
//   src  XOT{L}o    ((x*R + o/L)*T + t)*L + o%L,   R = ceil(O / L)
//   dst  NOHW{L}o   (((n*R + o/L)*OH + oh)*OW + ow)*L + o%L; zero from O on
//
//   A vector is L channels, so each channel's results are computed in a lane of its own:
//
//      P*P vectors, each of its x     A' m          (A' m) A
//        [L ][L ][L ][L ]..            |               --
//        [L ][L ][L ][L ]..            |   then        --       OUT x OUT pixels of dst; what hangs over
//          :   :   :                   v               -->      the image is left out
//
// A work-item takes tiles of a block of channels, one after another.
//
//             1  1  1  0                1  1  1  1  1  0
//     A' =    0  1 -1 -1   or for       0  1 -1  2 -2  0
//                          OUT = 4      0  1  1  4  4  0
//                                       0  1 -1  8 -8  1
//
// Tunables: LANES, the L above: floats of a vector; GROUPS, work-items at most.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory; memory of
// src and dst covers O rounded up to L, whatever src holds there.
// Source: A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2015.
#define PATCH (OUT + 2)
#if OUT == 4
#define TRANSFORM(m, y)                                     \
  do {                                                      \
    const vector sum = (m)[1] + (m)[2];                     \
    const vector difference = (m)[1] - (m)[2];              \
    const vector other_sum = (m)[3] + (m)[4];               \
    const vector other_difference = (m)[3] - (m)[4];        \
    (y)[0] = (m)[0] + sum + other_sum;                      \
    (y)[1] = difference + 2.0f * other_difference;          \
    (y)[2] = sum + 4.0f * other_sum;                        \
    (y)[3] = difference + 8.0f * other_difference + (m)[5]; \
  } while (0)
#elif OUT == 2
#define TRANSFORM(m, y)                \
  do {                                 \
    (y)[0] = (m)[0] + (m)[1] + (m)[2]; \
    (y)[1] = (m)[1] - (m)[2] - (m)[3]; \
  } while (0)
#else
#error "winograd_output.blocks: OUT must be 2 or 4"
#endif

__kernel ATTRIBUTES void winograd_output_blocks(ARGUMENTS) {
  // LANES floats at any float's address: OpenCL's vectors start at multiples of their size.
  typedef float vector __attribute__((ext_vector_type(LANES), aligned(4)));
  __local float results[OUT * OUT * LANES];
  const int blocks = (O + LANES - 1) / LANES;
  const int units = blocks * T;
  const int items = get_global_size(0);
  const int last = (int)((long)units * (get_global_id(0) + 1) / items);
  for (int unit = (int)((long)units * get_global_id(0) / items); unit < last; ++unit) {
    const int block = unit / T;
    const int t = unit % T;
    __global const float* from = src + (block * T + t) * LANES;
    vector columns[OUT][PATCH];  // A' m, row by row
#pragma unroll
    for (int q = 0; q < PATCH; ++q) {
      vector m[PATCH];
      vector y[OUT];
#pragma unroll
      for (int p = 0; p < PATCH; ++p) {
        m[p] = *(__global const vector*)(from + (PATCH * p + q) * units * LANES);
      }
      TRANSFORM(m, y);
#pragma unroll
      for (int p = 0; p < OUT; ++p) columns[p][q] = y[p];
    }
#pragma unroll
    for (int p = 0; p < OUT; ++p) {
      vector y[OUT];
      TRANSFORM(columns[p], y);
#pragma unroll
      for (int q = 0; q < OUT; ++q) *(__local vector*)(results + (p * OUT + q) * LANES) = y[q];
    }

    // The text of the epilogue stands in one loop: it may be long, and PoCL compiles every copy.
    const int tile = T0 + t;
    const int n = tile / (TW * TH);
    const int oh0 = tile / TW % TH * OUT;
    const int ow0 = tile % TW * OUT;
    const int right = min(OW - ow0, OUT);
    for (int p = 0; p < min(OH - oh0, OUT); ++p) {
      const int oh = oh0 + p;
      __global float* out = dst + (((n * blocks + block) * OH + oh) * OW + ow0) * LANES;
      for (int q = 0; q < right; ++q) {
        __local float* found = results + (p * OUT + q) * LANES;
        // The mask takes nothing away; it tells the compiler that o is a multiple of LANES and not
        // negative, so that EPILOGUE reads neighbours.
        const int o = block * LANES & (0x1000000 - LANES);
        vector result = *(__local const vector*)found;
        if (o + LANES <= O) {
#pragma unroll
          for (int l = 0; l < LANES; ++l) result[l] = EPILOGUE(result[l], n, o + l, oh, ow0 + q);
        } else {
          for (int l = 0; l < LANES; ++l) {
            const float value = found[l];
            found[l] = o + l < O ? EPILOGUE(value, n, o + l, oh, ow0 + q) : 0.0f;
          }
          result = *(__local const vector*)found;
        }
        *(__global vector*)(out + q * LANES) = result;
      }
    }
  }
}
#undef PATCH
#undef TRANSFORM
