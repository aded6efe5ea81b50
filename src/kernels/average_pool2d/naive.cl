// SPDX-License-Identifier: Apache-2.0
//
// average_pool2d.naive: dst[n,c,oh,ow] = sum of src[n, c, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL]
// over those (kh, kw) that fall inside the image, divided by a count.
//
//   src(n, c, h, w), dst(n, c, oh, ow)   through accessors
//
//        p p p p p       p: padding (PT rows above, PB below, PL columns left, PR right)
//        p[x x]. p       one work-item: one window, one element of dst; work-items are numbered
//        p[x x]. p       along ow, oh, c, n and spread over two dimensions of 32,768 at most
//        p p p p p
//
// The count is rows times columns of the window that lie inside the image (COUNT_PAD 0), or inside
// the image with its padding (COUNT_PAD 1); what hangs over even that never counts.
//
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits; every window has something that counts.
__kernel ATTRIBUTES void naive(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)(N * C * OH * OW)) return;
  const place at = place_of(e, C, OH, OW);
  // What counts: the image, widened by its padding with COUNT_PAD.
  const int rows =
      counted(at.h * SH - PT, KH, DH, COUNT_PAD ? -PT : 0, H + (COUNT_PAD ? PB : 0));
  const int columns =
      counted(at.w * SW - PL, KW, DW, COUNT_PAD ? -PL : 0, W + (COUNT_PAD ? PR : 0));

  TYPE_acc sum = 0;
  for (int kh = 0; kh < KH; ++kh) {
    const int h = at.h * SH + kh * DH - PT;
    if (h < 0 || h >= H) continue;
    for (int kw = 0; kw < KW; ++kw) {
      const int w = at.w * SW + kw * DW - PL;
      if (w < 0 || w >= W) continue;
      sum += LOAD_src(at.n, at.c, h, w);
    }
  }
  STORE_dst(at.n, at.c, at.h, at.w, EPILOGUE(sum / (TYPE_acc)(rows * columns), at.n, at.c, at.h, at.w));
}
