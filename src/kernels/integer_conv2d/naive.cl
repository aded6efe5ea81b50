// SPDX-License-Identifier: Apache-2.0
//
// integer_conv2d.naive: dst[n,o,oh,ow] = EPILOGUE(sum over i, kh, kw of
//     code[n, (o / (O/G))*I + i, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[o,i,kh,kw]),
// where code is src within the image and border[c] outside of it.
//
// The convolution of 8-bit numbers that is always possible, with operands in any order. Sums are exact 32-bit integers,
// on which the epilogue works.
//
//   src(n, c, h, w), weights(o, i, kh, kw), border(c), dst(n, o, oh, ow)   through accessors
//
//          b b b b b b b
//          b + . . . . b                      one work-item: one element of dst, that is one window
//        h b . [x . x] b  KH x KW elements,   of each of its group's I channels
//          b . [. . .] b  DH and DW apart
//          b . [x . x] b                      work-items are numbered along ow, oh, o, n and
//                                             spread over two dimensions of 32,768 at most
//
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits.
__kernel ATTRIBUTES void naive(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)(N * O * OH * OW)) return;
  const place at = place_of(e, O, OH, OW);
  const int first_channel = at.c / (O / G) * I;

  int sum = 0;
  for (int i = 0; i < I; ++i) {
    const int c = first_channel + i;
    for (int kh = 0; kh < KH; ++kh) {
      const int h = at.h * SH + kh * DH - PT;
      for (int kw = 0; kw < KW; ++kw) {
        const int w = at.w * SW + kw * DW - PL;
        int code = (int)LOAD_border(c);
        if (h >= 0 && h < H && w >= 0 && w < W) code = (int)LOAD_src(at.n, c, h, w);
        sum += code * (int)LOAD_weights(at.c, i, kh, kw);
      }
    }
  }
  STORE_dst(at.n, at.c, at.h, at.w, EPILOGUE(sum, at.n, at.c, at.h, at.w));
}
