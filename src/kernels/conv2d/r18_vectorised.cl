// SPDX-License-Identifier: Apache-2.0
//
// conv2d.r18_vectorised: dst[n,o,oh,ow] = EPILOGUE(sum over kh, kw, i of
//     src[n, i, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[o,i,kh,kw])
//
//   src      NHWC4c  ((n*H + h)*W + w)*Q + c/4, as vectors of four; Q = ceil(C / 4)
//   weights  OHWI4i  ((o*KH + kh)*KW + kw)*Q + i/4, likewise
//   dst      NHWO4o  ((n*OH + oh)*OW + ow)*R + o; R = O rounded up to 4, zero from O on
//
//         src[n,h,w]  [c c c c][c c c 0]     one work-item: one element, by products of four channels
//                      |dot|    |dot|        with dot(); a work-group: LOCAL_H x LOCAL_W pixels and
//      weights[o,..]  [i i i i][i i i 0]     LOCAL_O features
//
// The zeros behind the last channel add nothing to a sum, and the features behind O are written as
// zeros for the layer that reads them.
//
// Source: R18, section 7.2.2; as in conv2d.r18_naive a window is cut where it leaves the image.
//
// Tunables: LOCAL_H, LOCAL_W, LOCAL_O, work-items of a work-group.
__kernel ATTRIBUTES void r18_vectorised(ARGUMENTS) {
  const int oh = get_global_id(0);
  const int ow = get_global_id(1);
  const int o = get_global_id(2);
  if (oh >= OH || ow >= OW || o >= O_pad) return;
  const int quads = (I + 3) / 4;
  for (int n = 0; n < N; ++n) {
    const int place = ((n * OH + oh) * OW + ow) * O_pad + o;
    if (o >= O) {
      dst[place] = 0.0f;
      continue;
    }
    float sum = 0.0f;
    for (int kh = 0; kh < KH; ++kh) {
      const int h = oh * SH + kh * DH - PT;
      if (h < 0 || h >= H) continue;
      for (int kw = 0; kw < KW; ++kw) {
        const int w = ow * SW + kw * DW - PL;
        if (w < 0 || w >= W) continue;
        __global const float4* pixel = (__global const float4*)src + ((n * H + h) * W + w) * quads;
        __global const float4* filter =
            (__global const float4*)weights + ((o * KH + kh) * KW + kw) * quads;
        for (int q = 0; q < quads; ++q) sum += dot(pixel[q], filter[q]);
      }
    }
    dst[place] = EPILOGUE(sum, n, o, oh, ow);
  }
}
