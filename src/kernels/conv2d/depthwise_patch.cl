// SPDX-License-Identifier: Apache-2.0
//
// conv2d.depthwise_patch: dst[n,o,oh,ow] = EPILOGUE(sum over kh, kw of
//     src[n, o / (O/G), oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[o,0,kh,kw]), for GPUs
//
//   src(n, c, h, w), weights(o, i, kh, kw), dst(n, o, oh, ow)   through accessors
//
//        src[n,c]     w ->                    SW = 1, KW = 3, PATCH = 4
//          h  [x x x x x x]                   one work-item: PATCH neighbours of a row of dst, and for
//          |  [x x x x x x]                   each row of the filter the elements of src that they share,
//          v  [x x x x x x]                   each read once
//
// Neighbouring work-items read rows that overlap, which the caches serve. Work-items are numbered along
// ow / PATCH, oh, o, n and spread over two dimensions of 32,768 at most.
//
// Tunables: PATCH; LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits.
__kernel ATTRIBUTES void depthwise_patch(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  const int patches = (OW + PATCH - 1) / PATCH;
  if (e >= (uint)(N * O * OH * patches)) return;
  const int ow = e % patches * PATCH;
  const int oh = e / patches % OH;
  const int o = e / (patches * OH) % O;
  const int n = e / (patches * OH * O);
  const int c = o / (O / G);

  TYPE_acc sum[PATCH];
#pragma unroll
  for (int j = 0; j < PATCH; ++j) sum[j] = 0;
#pragma unroll
  for (int kh = 0; kh < KH; ++kh) {
    const int h = oh * SH + kh * DH - PT;
    const int is_row = h >= 0 && h < H;
    // Those that no position of the filter reads are not loaded: nothing asks for them.
    TYPE_acc row[(PATCH - 1) * SW + (KW - 1) * DW + 1];
#pragma unroll
    for (int i = 0; i < (PATCH - 1) * SW + (KW - 1) * DW + 1; ++i) {
      const int w = ow * SW - PL + i;
      row[i] = 0;
      if (is_row && w >= 0 && w < W) row[i] = LOAD_src(n, c, h, w);
    }
#pragma unroll
    for (int kw = 0; kw < KW; ++kw) {
      const TYPE_acc weight = LOAD_weights(o, 0, kh, kw);
#pragma unroll
      for (int j = 0; j < PATCH; ++j) sum[j] += row[j * SW + kw * DW] * weight;
    }
  }
#pragma unroll
  for (int j = 0; j < PATCH; ++j) {
    if (ow + j < OW) STORE_dst(n, o, oh, ow + j, EPILOGUE(sum[j], n, o, oh, ow + j));
  }
}
