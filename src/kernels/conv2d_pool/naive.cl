// SPDX-License-Identifier: Apache-2.0
//
// conv2d_pool.naive: dst[n,o,oh,ow] = EPILOGUE(largest (COMBINE 3) or mean (COMBINE 0) over the window
// of r), r[n,o,y,x] = MAPPED(bias[o] + the convolution that conv2d.naive computes)
//
// The convolution and the pool behind it that are always possible: any strides, padding, dilation and
// groups, with operands in any order. Where windows overlap, r is computed once for each of them.
//
//   src(n, c, h, w), weights(o, i, kh, kw), bias(o), dst(n, o, oh, ow)   through accessors
//
//        r[n,o]    x ->            one work-item: one element of dst, QH x QW elements of r that
//        y [a b] c d   ---->  max  are stored nowhere, each of which is a window of src; work-items
//        | [e f] g h         or    are numbered along ow, oh, o, n and spread over two dimensions
//        v  i j  k l        mean   of 32,768 at most
//
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits; every window of a mean has something that counts.
__kernel ATTRIBUTES void naive(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)(N * O * OH * OW)) return;
  const place at = place_of(e, O, OH, OW);
  const int first_channel = at.c / (O / G) * I;
  const TYPE_acc start = LOAD_bias(at.c);

  TYPE_acc pooled = COMBINE == 0 ? 0.0f : -INFINITY;
  for (int qh = 0; qh < QH; ++qh) {
    const int y = at.h * UH - QT + qh;
    if (y < 0 || y >= RH) continue;
    for (int qw = 0; qw < QW; ++qw) {
      const int x = at.w * UW - QL + qw;
      if (x < 0 || x >= RW) continue;
      TYPE_acc sum = 0;
      for (int i = 0; i < I; ++i) {
        for (int kh = 0; kh < KH; ++kh) {
          const int h = y * SH + kh * DH - PT;
          if (h < 0 || h >= H) continue;
          for (int kw = 0; kw < KW; ++kw) {
            const int w = x * SW + kw * DW - PL;
            if (w < 0 || w >= W) continue;
            sum += LOAD_src(at.n, first_channel + i, h, w) * LOAD_weights(at.c, i, kh, kw);
          }
        }
      }
      const TYPE_acc value = MAPPED(sum + start);
      if (COMBINE == 0) {
        pooled += value;
      } else if (value > pooled || value != value) {
        pooled = value;
      }
    }
  }
  if (COMBINE == 0) {
    // What counts: the image, widened by its padding with COUNT_PAD.
    const int rows = counted(at.h * UH - QT, QH, 1, COUNT_PAD ? -QT : 0, RH + (COUNT_PAD ? QB : 0));
    const int columns =
        counted(at.w * UW - QL, QW, 1, COUNT_PAD ? -QL : 0, RW + (COUNT_PAD ? QR : 0));
    pooled /= (TYPE_acc)(rows * columns);
  }
  STORE_dst(at.n, at.c, at.h, at.w, EPILOGUE(pooled, at.n, at.c, at.h, at.w));
}
