// SPDX-License-Identifier: Apache-2.0
//
// max_pool2d.naive: dst[n,c,oh,ow] = largest src[n, c, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] of
// those (kh, kw) that fall inside the image.
//
//   src(n, c, h, w), dst(n, c, oh, ow)   through accessors
//
//        src[n,c]  w ->
//        h [x x]. .        one work-item: one window, one element of dst; work-items are numbered
//        | [x x]. .        along ow, oh, c, n and spread over two dimensions of 32,768 at most
//        v . . . .
//
// A NaN in the window stays, as ONNX's reference has it: fmax() would drop it.
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits. A window that misses the image gives -infinity.
__kernel ATTRIBUTES void naive(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)(N * C * OH * OW)) return;
  const place at = place_of(e, C, OH, OW);

  TYPE_acc largest = -INFINITY;
  for (int kh = 0; kh < KH; ++kh) {
    const int h = at.h * SH + kh * DH - PT;
    if (h < 0 || h >= H) continue;
    for (int kw = 0; kw < KW; ++kw) {
      const int w = at.w * SW + kw * DW - PL;
      if (w < 0 || w >= W) continue;
      const TYPE_acc value = LOAD_src(at.n, at.c, h, w);
      if (value > largest || value != value) largest = value;
    }
  }
  STORE_dst(at.n, at.c, at.h, at.w, EPILOGUE(largest, at.n, at.c, at.h, at.w));
}
