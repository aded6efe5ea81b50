// SPDX-License-Identifier: Apache-2.0
//
// fold2d.naive: dst[n,o,oh,ow] = EPILOGUE(sum over kh, kw of src[n, k, p]), where k = (o*KH + kh)*KW + kw,
//     p = h*W + w, h*SH + kh*DH - PT = oh and w*SW + kw*DW - PL = ow
//
// What a transposed convolution does behind its product: the windows that the columns of src are go
// back to their places, and what meets in one place is added.
//
//   src(n, k, p), dst(n, o, oh, ow)   through accessors
//
//        src        p ->            dst, SH = SW = 2, KH = KW = 3
//        k  (0,0)   a b c d         one work-item: one element of dst. It gathers: of the KH x KW
//        |  (0,1)   e f g h         positions those where oh + PT - kh*DH is a multiple of SH have a
//        v  (0,2)   i j k l         window there; with filters as wide as the stride it is one
//
// Work-items are numbered along ow, oh, o, n and spread over two dimensions of 32,768 at most.
//
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements of src and dst are countable in 31 bits.
__kernel ATTRIBUTES void fold_naive(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)(N * O * OH * OW)) return;
  const place at = place_of(e, O, OH, OW);

  TYPE_acc sum = 0;
  for (int kh = 0; kh < KH; ++kh) {
    const int down = at.h + PT - kh * DH;
    const int h = down / SH;
    if (down < 0 || h * SH != down || h >= H) continue;
    for (int kw = 0; kw < KW; ++kw) {
      const int across = at.w + PL - kw * DW;
      const int w = across / SW;
      if (across < 0 || w * SW != across || w >= W) continue;
      sum += LOAD_src(at.n, (at.c * KH + kh) * KW + kw, h * W + w);
    }
  }
  STORE_dst(at.n, at.c, at.h, at.w, EPILOGUE(sum, at.n, at.c, at.h, at.w));
}
