// SPDX-License-Identifier: Apache-2.0
//
// fold2d.naive: dst[n,o,oh,ow] = EPILOGUE(sum over kh, kw of src[o,kh,kw,n,h,w]),
//     where h*SH + kh*DH - PT = oh and w*SW + kw*DW - PL = ow
//
// The second half of a transposed convolution: each element of its image has been multiplied by each
// element of the filter, and here the products are laid over each other.
//
//   src(o, kh, kw, n, h, w), dst(n, o, oh, ow)   through accessors
//
//        src, a KH x KW block      a a a . .         dst, SH = SW = 2, KH = KW = 3
//        for each (h, w)           a a + b b b       one work-item: one element of dst, the sum of the
//                                  a a + b b b       products that cover it
//                                  . . b b b
//
// Work-items are numbered along ow, oh, o, n and spread over two dimensions of 32,768 at most.
//
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits.
__kernel ATTRIBUTES void fold_naive(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)(N * O * OH * OW)) return;
  const int ow = e % OW;
  const int oh = e / OW % OH;
  const int o = e / (OW * OH) % O;
  const int n = e / (OW * OH * O);

  TYPE_acc sum = 0;
  for (int kh = 0; kh < KH; ++kh) {
    const int down = oh + PT - kh * DH;
    const int h = down / SH;
    if (down < 0 || h * SH != down || h >= H) continue;
    for (int kw = 0; kw < KW; ++kw) {
      const int across = ow + PL - kw * DW;
      const int w = across / SW;
      if (across < 0 || w * SW != across || w >= W) continue;
      sum += LOAD_src(o, kh, kw, n, h, w);
    }
  }
  STORE_dst(n, o, oh, ow, EPILOGUE(sum, n, o, oh, ow));
}
