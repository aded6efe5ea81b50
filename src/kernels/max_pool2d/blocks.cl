// SPDX-License-Identifier: Apache-2.0
//
// max_pool2d.blocks: dst[n,c,oh,ow] = EPILOGUE(largest src[n, c, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL]
// of those (kh, kw) that fall inside the image), for CPUs
//
//   src  NCHW16c   (((n*Q + c/16)*H + h)*W + w)*16 + c%16,   Q = ceil(C / 16)
//   dst  NCHW16c   (((n*Q + c/16)*OH + oh)*OW + ow)*16 + c%16; zero from C on
//
// A vector is sixteen channels of a pixel, so the largest of a window is the largest of KH*KW vectors:
// nothing is shifted. A work-item takes rows of dst, one after another.
//
// A NaN in the window stays, as ONNX's reference has it: fmax() would drop it.
//
// Tunables: GROUPS, work-items at most.
__kernel ATTRIBUTES void max_blocks(ARGUMENTS) {
  // Sixteen floats that may start at any float, where OpenCL's float16 starts at 64 bytes only.
  typedef float sixteen __attribute__((ext_vector_type(16), aligned(4)));
  const int blocks = (C + 15) / 16;
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
    for (int ow = 0; ow < OW; ++ow) {
      const int w0 = ow * SW - PL;
      const int is_inside = (w0 >= 0) & (w0 + (KW - 1) * DW < W);
      sixteen most = -INFINITY;
#pragma unroll
      for (int kh = 0; kh < KH; ++kh) {
        const int h = h0 + kh * DH;
        if ((h < 0) | (h >= H)) continue;
        __global const float* from = plane + (h * W + w0) * 16;
#pragma unroll
        for (int kw = 0; kw < KW; ++kw) {
          const int w = w0 + kw * DW;
          if (!is_inside && ((w < 0) | (w >= W))) continue;
          const sixteen value = *(__global const sixteen*)(from + kw * DW * 16);
          most = value > most || value != value ? value : most;
        }
      }
      // The mask takes nothing away; it tells the compiler that c is a multiple of 16 and not negative,
      // so that EPILOGUE reads neighbours.
      const int c = block * 16 & 0xfffff0;
      sixteen result = 0.0f;
      if (c + 16 <= C) {
#pragma unroll
        for (int l = 0; l < 16; ++l) result[l] = EPILOGUE(most[l], n, c + l, oh, ow);
      } else {
        float found[16];
        *(sixteen*)found = most;
        for (int l = 0; l < 16; ++l) {
          found[l] = c + l < C ? EPILOGUE(found[l], n, c + l, oh, ow) : 0.0f;
        }
        result = *(const sixteen*)found;
      }
      *(__global sixteen*)(out + ow * 16) = result;
    }
  }
}
