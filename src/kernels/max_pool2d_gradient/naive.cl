// SPDX-License-Identifier: Apache-2.0
//
// max_pool2d_gradient.naive: dst[n,c,h,w] = sum of above[n,c,oh,ow] over the windows in which
// src[n,c,h,w] is the largest, the first one of several.
//
//   src(n, c, h, w), above(n, c, oh, ow), dst(n, c, h, w)   through accessors
//
//        src[n,c]  w ->
//        h  .[x x].        one work-item: one element of dst, which lies in KH * KW windows at most;
//        |  .[x *].        work-items are numbered along w, h, c, n and spread over two dimensions
//        v  . . . .        of 32,768 at most
//
// The first NaN counts as the largest, as in max_pool2d.
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits.
__kernel ATTRIBUTES void max_gradient(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)(N * C * H * W)) return;
  const int w = e % W;
  const int h = e / W % H;
  const int c = e / (W * H) % C;
  const int n = e / (W * H * C);

  const TYPE_src own = LOAD_src(n, c, h, w);
  TYPE_acc sum = 0;
  for (int kh = 0; kh < KH; ++kh) {
    // The window in which this element is at (kh, kw).
    const int top = h + PT - kh * DH;
    if (top < 0 || top % SH != 0 || top / SH >= OH) continue;
    for (int kw = 0; kw < KW; ++kw) {
      const int left = w + PL - kw * DW;
      if (left < 0 || left % SW != 0 || left / SW >= OW) continue;
      bool is_largest = true;
      for (int k = 0; k < KH * KW; ++k) {
        const int row = top - PT + k / KW * DH;
        const int column = left - PL + k % KW * DW;
        if (row < 0 || row >= H || column < 0 || column >= W) continue;
        const TYPE_src other = LOAD_src(n, c, row, column);
        const bool is_before = k < kh * KW + kw;
        if (is_before && (other >= own || other != other)) is_largest = false;
        if (!is_before && (other > own || (other != other && own == own))) is_largest = false;
      }
      if (is_largest) sum += LOAD_above(n, c, top / SH, left / SW);
    }
  }
  STORE_dst(n, c, h, w, EPILOGUE(sum, n, c, h, w));
}
