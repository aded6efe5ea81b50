// SPDX-License-Identifier: Apache-2.0
//
// max_pool2d_indices.naive: dst[n,c,oh,ow] = place in src of the largest
// src[n, c, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] of those (kh, kw) that fall inside the image, the
// first one of several.
//
//   src(n, c, h, w), dst(n, c, oh, ow)   through accessors
//
//        src[n,c]  w ->        COLUMNS 0    COLUMNS 1
//        h [x x]. .            0 1 2 3      0 3 6 9       one work-item: one window; work-items are
//        | [x x]. .            4 5 6 7      1 4 7 .       numbered along ow, oh, c, n and spread over two
//        v . . . .             8 9 . .      2 5 8 .       dimensions of 32,768 at most
//
// and (n*C + c)*H*W more. The first NaN counts as the largest, as in max_pool2d.
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits; no window misses the image.
__kernel ATTRIBUTES void max_indices_naive(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)(N * C * OH * OW)) return;
  const place at = place_of(e, C, OH, OW);

  int found = -1;
  TYPE_src largest = 0;
  for (int kh = 0; kh < KH; ++kh) {
    const int h = at.h * SH + kh * DH - PT;
    if (h < 0 || h >= H) continue;
    for (int kw = 0; kw < KW; ++kw) {
      const int w = at.w * SW + kw * DW - PL;
      if (w < 0 || w >= W) continue;
      const TYPE_src value = LOAD_src(at.n, at.c, h, w);
      if (found < 0 || value > largest || (value != value && largest == largest)) {
        largest = value;
        found = COLUMNS ? w * H + h : h * W + w;
      }
    }
  }
  STORE_dst(at.n, at.c, at.h, at.w, (long)(at.n * C + at.c) * (H * W) + found);
}
