// SPDX-License-Identifier: Apache-2.0
//
// conv2d.naive: dst[n,o,oh,ow] = EPILOGUE(sum over i, kh, kw of
//     src[n, (o / (O/G))*I + i, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[o,i,kh,kw])
//
// The convolution that is always possible: any stride, padding, dilation and number of groups, with
// operands in any order. What lies outside the image counts as zero and is not read.
//
//   src(n, c, h, w), weights(o, i, kh, kw), dst(n, o, oh, ow)   through accessors
//
//        src[n,c]   w ->                       one work-item: one element of dst, that is one
//          + . . . . .                         window of each of its group's I channels
//        h . [x . x]. .   KH x KW elements,
//        | . [. . .]. .   DH and DW apart      work-items are numbered along ow, oh, o, n and
//        v . [x . x]. .                        spread over two dimensions of 32,768 at most
//
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits.
__kernel ATTRIBUTES void naive(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)(N * O * OH * OW)) return;
  const place at = place_of(e, O, OH, OW);
  const int first_channel = at.c / (O / G) * I;

  TYPE_acc sum = 0;
  for (int i = 0; i < I; ++i) {
    for (int kh = 0; kh < KH; ++kh) {
      const int h = at.h * SH + kh * DH - PT;
      if (h < 0 || h >= H) continue;
      for (int kw = 0; kw < KW; ++kw) {
        const int w = at.w * SW + kw * DW - PL;
        if (w < 0 || w >= W) continue;
        sum += LOAD_src(at.n, first_channel + i, h, w) * LOAD_weights(at.c, i, kh, kw);
      }
    }
  }
  STORE_dst(at.n, at.c, at.h, at.w, EPILOGUE(sum, at.n, at.c, at.h, at.w));
}
