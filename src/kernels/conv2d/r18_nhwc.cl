// SPDX-License-Identifier: Apache-2.0
//
// conv2d.r18_nhwc: dst[n,o,oh,ow] = EPILOGUE(sum over kh, kw, i of
//     src[n, i, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[o,i,kh,kw])
//
//   src      NHWC   ((n*H + h)*W + w)*C + c     the channels of a pixel lie side by side
//   weights  OHWI   ((o*KH + kh)*KW + kw)*I + i
//   dst      NHWO   ((n*OH + oh)*OW + ow)*O + o
//
//              o ->
//        ow [ x x x x ]    one work-item: one element; a work-group: LOCAL_H x LOCAL_W pixels and
//         | [ x x x x ]    LOCAL_O features. Four work-groups side by side along oh make a cube, for
//         v [ x x x x ]    which a device that runs four reads C x 6 x 6 numbers of src (3x3 filters)
//           [ x x x x ]
//
// Source: R18, section 7.2.1: work-groups (1,4,4), and (2,2,4), (1,2,4), (1,1,4) as its variants. As
// in conv2d.r18_naive a window is cut where it leaves the image, in place of zeros around it.
//
// Tunables: LOCAL_H, LOCAL_W, LOCAL_O, work-items of a work-group.
__kernel ATTRIBUTES void r18_nhwc(ARGUMENTS) {
  const int oh = get_global_id(0);
  const int ow = get_global_id(1);
  const int o = get_global_id(2);
  if (oh >= OH || ow >= OW || o >= O) return;
  for (int n = 0; n < N; ++n) {
    TYPE_acc sum = 0;
    for (int kh = 0; kh < KH; ++kh) {
      const int h = oh * SH + kh * DH - PT;
      if (h < 0 || h >= H) continue;
      for (int kw = 0; kw < KW; ++kw) {
        const int w = ow * SW + kw * DW - PL;
        if (w < 0 || w >= W) continue;
        __global const float* pixel = src + ((n * H + h) * W + w) * I;
        __global const float* filter = weights + ((o * KH + kh) * KW + kw) * I;
        for (int i = 0; i < I; ++i) sum += pixel[i] * filter[i];
      }
    }
    dst[((n * OH + oh) * OW + ow) * O + o] = EPILOGUE(sum, n, o, oh, ow);
  }
}
