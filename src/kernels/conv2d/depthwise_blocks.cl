// SPDX-License-Identifier: Apache-2.0
//
// conv2d.depthwise_blocks: dst[n,c,oh,ow] = EPILOGUE(sum over kh, kw of
//     src[n, c, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[c,0,kh,kw]), for CPUs
//
//   src      NCHW16c    (((n*Q + c/16)*H + h)*W + w)*16 + c%16,   Q = ceil(C / 16)
//   weights  OIHW16o    ((c/16*KH + kh)*KW + kw)*16 + c%16
//   dst      NOHW16o    (((n*Q + c/16)*OH + oh)*OW + ow)*16 + c%16; zero from C on
//
//      src, row oh*SH + kh*DH - PT      [c c c c c c]          a vector is 16 channels of a pixel: nothing
//      weights of (kh, kw)              [w]                    is shifted and nothing reduced
//      dst, PIXELS neighbours of a row    [+ + + +]
//
// A work-item takes rows of dst, one after another. The pixels of a row whose windows do not leave the
// image sideways are computed PIXELS at a time, so that a vector of src serves up to KW of them, the
// last of them once more where the tile before had them; those at the edges one at a time.
//
// Strides, dilation and padding are arguments, so that layers of one filter size share a kernel. Where
// pixels are neighbours in src too, tiles have a text of their own: there the compiler sees which of them
// read the same vector, and loads it once.
//
// Tunables: PIXELS of a tile; GROUPS, work-items at most.
// Assumes: a work-group of one work-item.
// `a * b + c` is left to the compiler to contract into one operation: PoCL's mad() is two.

// sum[p] += the windows of PIXELS neighbours, `step` columns of src apart, with `gap` columns between
// the columns of a window.
#define ADD_WINDOWS(step, gap)                                                                  \
  _Pragma("unroll") for (int kh = 0; kh < KH; ++kh) {                                           \
    const int h = h0 + kh * DH;                                                                 \
    if ((h < 0) | (h >= H)) continue;                                                           \
    __global const float* from = plane + (h * W + first * (step) - PL) * 16;                    \
    _Pragma("unroll") for (int p = 0; p < PIXELS; ++p) {                                        \
      _Pragma("unroll") for (int kw = 0; kw < KW; ++kw) {                                       \
        sum[p] += *(__global const sixteen*)(from + (p * (step) + kw * (gap)) * 16) *           \
                  filter[kh * KW + kw];                                                         \
      }                                                                                         \
    }                                                                                           \
  }

__kernel ATTRIBUTES void depthwise_blocks(ARGUMENTS) {
  // Sixteen floats that may start at any float, where OpenCL's float16 starts at 64 bytes only.
  typedef float sixteen __attribute__((ext_vector_type(16), aligned(4)));
  __local float sums[PIXELS * 16];
  const int blocks = (C + 15) / 16;
  // Windows of these columns lie within the image.
  const int inner_begin = min((PL + SW - 1) / SW, OW);
  const int reach = W - 1 - (KW - 1) * DW + PL;
  const int inner_end = clamp(reach < 0 ? 0 : reach / SW + 1, inner_begin, OW);
  const int rows = N * blocks * OH;
  const int items = get_global_size(0);
  const int last = (int)((long)rows * (get_global_id(0) + 1) / items);
  for (int r = (int)((long)rows * get_global_id(0) / items); r < last; ++r) {
    const int oh = r % OH;
    const int block = r / OH % blocks;
    const int n = r / OH / blocks;
    const int h0 = oh * SH - PT;
    __global const float* plane = src + (n * blocks + block) * (H * W) * 16;
    __global float* out = dst + r * OW * 16;
    sixteen filter[KH * KW];
#pragma unroll
    for (int k = 0; k < KH * KW; ++k) {
      filter[k] = *(__global const sixteen*)(weights + (block * (KH * KW) + k) * 16);
    }
    for (int ow = 0; ow < OW;) {
      int count = 1;
      int first = ow;
      if ((ow >= inner_begin) & (ow < inner_end) & (inner_end - inner_begin >= PIXELS)) {
        first = min(ow, inner_end - PIXELS);
        count = PIXELS;
        sixteen sum[PIXELS];
#pragma unroll
        for (int p = 0; p < PIXELS; ++p) sum[p] = 0.0f;
        if ((SW == 1) & (DW == 1)) {
          ADD_WINDOWS(1, 1)
        } else {
          ADD_WINDOWS(SW, DW)
        }
#pragma unroll
        for (int p = 0; p < PIXELS; ++p) *(__local sixteen*)(sums + p * 16) = sum[p];
      } else {
        sixteen sum = 0.0f;
#pragma unroll
        for (int kh = 0; kh < KH; ++kh) {
          const int h = h0 + kh * DH;
          if ((h < 0) | (h >= H)) continue;
#pragma unroll
          for (int kw = 0; kw < KW; ++kw) {
            const int w = ow * SW + kw * DW - PL;
            if ((w < 0) | (w >= W)) continue;
            sum += *(__global const sixteen*)(plane + (h * W + w) * 16) * filter[kh * KW + kw];
          }
        }
        *(__local sixteen*)sums = sum;
      }

      // The text of the epilogue stands in one loop: it may be long, and PoCL compiles every copy.
      // The mask takes nothing away; it tells the compiler that o is a multiple of 16 and not
      // negative, so that EPILOGUE reads neighbours.
      const int o = block * 16 & 0xfffff0;
      for (int p = ow - first; p < count; ++p) {
        __local float* found = sums + p * 16;
        sixteen result = *(__local const sixteen*)found;
        if (o + 16 <= C) {
#pragma unroll
          for (int l = 0; l < 16; ++l) result[l] = EPILOGUE(result[l], n, o + l, oh, first + p);
        } else {
          for (int l = 0; l < 16; ++l) {
            const float value = found[l];
            found[l] = o + l < C ? EPILOGUE(value, n, o + l, oh, first + p) : 0.0f;
          }
          result = *(__local const sixteen*)found;
        }
        *(__global sixteen*)(out + (first + p) * 16) = result;
      }
      ow = first + count;
    }
  }
}
