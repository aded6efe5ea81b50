// SPDX-License-Identifier: Apache-2.0
//
// conv2d.r18_naive: dst[n,o,oh,ow] = EPILOGUE(sum over i, kh, kw of
//     src[n, i, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[o,i,kh,kw])
//
//   src      NCHW   ((n*C + c)*H + h)*W + w
//   weights  OIHW   ((o*I + i)*KH + kh)*KW + kw
//   dst      NOHW   ((n*O + o)*OH + oh)*OW + ow
//
//        dst[n,o]   ow ->
//        oh [x x x . ]     one work-item: the element (oh, ow) of feature o in every image, one image
//        |  [x x x . ]     after the other; a work-group: LOCAL x LOCAL elements of one feature
//        v   . . . .
//
// Source: R18, appendices B and C, the baseline of chapter 6. There the kernel before has written
// zeros around each feature map, so that windows need no edges; here a window is cut where it leaves
// the image, which adds the same terms. Its sums are of doubles, which OpenCL 1.2 makes an option;
// these are of floats. It leaves the work-group to the driver, which takes 16x16 (section 7.2.1).
//
// Tunables: LOCAL, work-items of a work-group along each of rows and columns.
__kernel ATTRIBUTES void r18_naive(ARGUMENTS) {
  const int oh = get_global_id(0);
  const int ow = get_global_id(1);
  const int o = get_global_id(2);
  if (oh >= OH || ow >= OW) return;
  for (int n = 0; n < N; ++n) {
    TYPE_acc sum = 0;
    for (int i = 0; i < I; ++i) {
      for (int kh = 0; kh < KH; ++kh) {
        const int h = oh * SH + kh * DH - PT;
        if (h < 0 || h >= H) continue;
        for (int kw = 0; kw < KW; ++kw) {
          const int w = ow * SW + kw * DW - PL;
          if (w < 0 || w >= W) continue;
          sum += src[((n * I + i) * H + h) * W + w] * weights[((o * I + i) * KH + kh) * KW + kw];
        }
      }
    }
    dst[((n * O + o) * OH + oh) * OW + ow] = EPILOGUE(sum, n, o, oh, ow);
  }
}
