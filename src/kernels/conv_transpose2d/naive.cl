// SPDX-License-Identifier: Apache-2.0
//
// conv_transpose2d.naive: dst[n,o,oh,ow] = EPILOGUE(sum over c, kh, kw of src[n,c,h,w] *
//     weights[c, o % J, kh, kw]), where h*SH + kh*DH - PT = oh and w*SW + kw*DW - PL = ow,
//     c in group o / J
//
// The transposed convolution that is always possible: any stride, padding, dilation and number of
// groups, with operands in any order.
//
//   src(n, c, h, w), weights(c, j, kh, kw), dst(n, o, oh, ow)   through accessors
//
//        src        w ->          dst, SH = SW = 2, KH = KW = 3
//        h  a   b                 A A * B B      one work-item: one element of dst. It gathers: of the
//        |                        A A * B B      KH x KW positions those where oh + PT - kh*DH is a
//        v  c   d                 * * * * *      multiple of SH have an element of src under them
//                                 C C * D D      (*: more than one element adds)
//
// Work-items are numbered along ow, oh, o, n and spread over two dimensions of 32,768 at most.
//
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits.
__kernel ATTRIBUTES void conv_transpose_naive(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)(N * O * OH * OW)) return;
  const place at = place_of(e, O, OH, OW);
  const int depth = C / G;
  const int first_channel = at.c / J * depth;

  TYPE_acc sum = 0;
  for (int kh = 0; kh < KH; ++kh) {
    const int down = at.h + PT - kh * DH;
    const int h = down / SH;
    if (down < 0 || h * SH != down || h >= H) continue;
    for (int kw = 0; kw < KW; ++kw) {
      const int across = at.w + PL - kw * DW;
      const int w = across / SW;
      if (across < 0 || w * SW != across || w >= W) continue;
      for (int c = first_channel; c < first_channel + depth; ++c) {
        sum += LOAD_src(at.n, c, h, w) * LOAD_weights(c, at.c % J, kh, kw);
      }
    }
  }
  STORE_dst(at.n, at.c, at.h, at.w, EPILOGUE(sum, at.n, at.c, at.h, at.w));
}
