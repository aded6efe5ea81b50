// SPDX-License-Identifier: Apache-2.0
//
// lp_pool2d.naive: dst[n,c,oh,ow] = EPILOGUE(s^(1/P)), s the sum of
// |src[n, c, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL]|^P over those (kh, kw) that fall inside the image.
//
//   src(n, c, h, w), dst(n, c, oh, ow)   through accessors
//
//        src[n,c]  w ->
//        h [x x]. .        one work-item: one window, one element of dst; work-items are numbered
//        | [x x]. .        along ow, oh, c, n and spread over two dimensions of 32,768 at most
//        v . . . .
//
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits.
__kernel ATTRIBUTES void lp_pool_naive(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)(N * C * OH * OW)) return;
  const place at = place_of(e, C, OH, OW);

  TYPE_acc sum = 0;
  for (int kh = 0; kh < KH; ++kh) {
    const int h = at.h * SH + kh * DH - PT;
    if (h < 0 || h >= H) continue;
    for (int kw = 0; kw < KW; ++kw) {
      const int w = at.w * SW + kw * DW - PL;
      if (w < 0 || w >= W) continue;
      const TYPE_acc value = fabs(LOAD_src(at.n, at.c, h, w));
      sum += P == 1 ? value : value * value;
    }
  }
  const TYPE_acc root = P == 1 ? sum : sqrt(sum);
  STORE_dst(at.n, at.c, at.h, at.w, EPILOGUE(root, at.n, at.c, at.h, at.w));
}
