// SPDX-License-Identifier: Apache-2.0
//
// max_pool2d_gradient.blocks: as rows, in blocks of channels, for CPUs.
//
//   src, dst  NCHW16c   (((n*Q + c/16)*H + h)*W + w)*16 + c%16,   Q = ceil(C / 16)
//   above     NCHW16c   (((n*Q + c/16)*OH + oh)*OW + ow)*16 + c%16
//
//        src[n, block]  w ->      one work-item: rows of windows, and of each the KH rows of dst under
//        [X X][X X][X X] .        it; columns and rows behind the last windows become 0
//        [X X][X X][X X] .        X: a vector of sixteen channels
//         .  .  .  .  .  .
//
// The first NaN counts as the largest, as in max_pool2d. dst is zero from C on.
// Tunables: GROUPS, work-items that share the rows.
// Assumes: elements of dst are countable in 31 bits.
__kernel ATTRIBUTES void max_gradient_blocks(ARGUMENTS) {
  // Sixteen floats that may start at any float, where OpenCL's float16 starts at 64 bytes only.
  typedef float sixteen __attribute__((ext_vector_type(16), aligned(4)));
  typedef int sixteen_ints __attribute__((ext_vector_type(16), aligned(4)));
  const int blocks = (C + 15) / 16;
  const int rows = N * blocks * OH;
  for (int r = (int)get_global_id(0); r < rows; r += (int)get_global_size(0)) {
    const int oh = r % OH;
    const int plane = r / OH;
    const int n = plane / blocks;
    // The mask takes nothing away; it tells the compiler that c is a multiple of 16 and not negative.
    const int c = plane % blocks * 16 & 0xfffff0;
    const int top = oh * KH;
    __global const float* from = src + (plane * H + top) * W * 16;
    __global float* to = dst + (plane * H + top) * W * 16;
    for (int ow = 0; ow < OW; ++ow) {
      sixteen largest = *(__global const sixteen*)(from + ow * KW * 16);
      sixteen_ints place = 0;
#pragma unroll
      for (int k = 1; k < KH * KW; ++k) {
        const sixteen value = *(__global const sixteen*)(from + (k / KW * W + ow * KW + k % KW) * 16);
        const sixteen_ints is_larger = (value > largest) | ((value != value) & (largest == largest));
        largest = is_larger ? value : largest;
        place = is_larger ? (sixteen_ints)k : place;
      }
      const sixteen whole = *(__global const sixteen*)(above + (r * OW + ow) * 16);
#pragma unroll
      for (int k = 0; k < KH * KW; ++k) {
        const sixteen own = place == (sixteen_ints)k ? whole : (sixteen)0.0f;
        const int h = top + k / KW;
        const int w = ow * KW + k % KW;
        sixteen result = 0.0f;
        if (c + 16 <= C) {
#pragma unroll
          for (int l = 0; l < 16; ++l) result[l] = EPILOGUE(own[l], n, c + l, h, w);
        } else {
          float found[16];
          *(sixteen*)found = own;
          for (int l = 0; l < 16; ++l) found[l] = c + l < C ? EPILOGUE(found[l], n, c + l, h, w) : 0.0f;
          result = *(const sixteen*)found;
        }
        *(__global sixteen*)(to + (k / KW * W + w) * 16) = result;
      }
    }
    const int end = oh == OH - 1 ? H - top : KH;
    for (int row = 0; row < end; ++row) {
      for (int w = row < KH ? OW * KW : 0; w < W; ++w) {
        for (int l = 0; l < 16; ++l) {
          to[(row * W + w) * 16 + l] =
              c + l < C ? EPILOGUE(0.0f, n, c + l, top + row, w) : 0.0f;
        }
      }
    }
  }
}
