// SPDX-License-Identifier: Apache-2.0
//
// conv2d.depthwise_columns: dst[n,o,oh,ow] = EPILOGUE(sum over kh, kw of
//     src[n, o / (O/G), oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[o,0,kh,kw]), for GPUs of many units
//
//   src(n, c, h, w), weights(o, i, kh, kw), dst(n, o, oh, ow)   through accessors
//
//        src[n,c]     w ->                    SH = 1, KW = KH = 3, ROWS = 4
//          h  [x x x]                         one work-item: ROWS elements of a column of dst; each element of
//          |  [x x x]                         src that they share is read once. Work-items side by side are
//          v  [x x x]                         columns side by side, so what they read at a time is one stretch,
//             [x x x]                         and what they store, too.
//             [x x x]
//             [x x x]
//
// conv2d.depthwise_patch demands planes one after another, NCHW. Products leave them with padding between, or all
// images of a channel together. To pack those takes as long as this convolution. Here they are read as they lie.
//
// Work-items are numbered along ow, oh / ROWS, o, n and spread over two dimensions of 32,768 at most.
//
// Tunables: ROWS; LOCAL, work-items of a work-group. Images of networks are often 7, 14, 28, 56 or 112 rows high.
// Assumes: elements of dst are countable in 31 bits.
#define HEIGHT ((ROWS - 1) * SH + (KH - 1) * DH + 1)

__kernel ATTRIBUTES void depthwise_columns(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  const uint bands = (OH + ROWS - 1) / ROWS;
  const uint band = e / OW;
  const uint plane = band / bands;
  const int n = plane / O;
  if (n >= N) return;
  const int o = plane - n * O;
  const int ow = e - band * OW;
  const int oh = (band - plane * bands) * ROWS;
  const int c = o / (O / G);

  TYPE_acc filter[KH * KW];
#pragma unroll
  for (int k = 0; k < KH * KW; ++k) filter[k] = LOAD_weights(o, 0, k / KW, k % KW);
  TYPE_acc sum[ROWS];
#pragma unroll
  for (int i = 0; i < ROWS; ++i) sum[i] = 0;
#pragma unroll
  for (int y = 0; y < HEIGHT; ++y) {
    const int h = oh * SH - PT + y;
    const int is_row = h >= 0 && h < H;
#pragma unroll
    for (int kw = 0; kw < KW; ++kw) {
      const int w = ow * SW - PL + kw * DW;
      TYPE_acc value = 0;
      if (is_row && w >= 0 && w < W) value = LOAD_src(n, c, h, w);
#pragma unroll
      for (int i = 0; i < ROWS; ++i) {
#pragma unroll
        for (int kh = 0; kh < KH; ++kh) {
          if (i * SH + kh * DH == y) sum[i] += value * filter[kh * KW + kw];
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    if (oh + i < OH) STORE_dst(n, o, oh + i, ow, EPILOGUE(sum[i], n, o, oh + i, ow));
  }
}
#undef HEIGHT
