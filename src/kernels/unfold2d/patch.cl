// SPDX-License-Identifier: Apache-2.0
//
// unfold2d.patch: dst[n, (c*KH + kh)*KW + kw, oh*OW + ow] = src[n, c, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL], 0
// outside of src: the columns of a convolution, for GPUs.
//
//   src   NCHW     ((n*C + c)*H + h)*W + w
//   dst(n, k, p)   through accessors
//
//        src[n,c,h]  [x x x x x x]          SW = 1, KW = 3: a work-item reads the part of a row of src that kw and four
//        dst   k     [x x x x]              neighbours of a row of results share, and writes it KW times
//              k+1     [x x x x]
//              k+2       [x x x x]
//
// Work-items lie along ow / 4, oh and c*KH + kh, and take the images one after another: no index is divided but by a
// constant. pack.short_runs does the same for any view, by a dozen divisions for each element.
// What lies beside the image belongs to another row or plane and counts as zero. Only a row that leaves the tensor
// is read one by one, an element of the tensor in place of what lies outside.
//
// Tunables: LOCAL_W, LOCAL_H, LOCAL_K, work-items of a work-group.
// Assumes: src and dst take less than 4 GiB each.
#define LENGTH (3 * SW + (KW - 1) * DW + 1)

__kernel ATTRIBUTES void unfold_patch(ARGUMENTS) {
  const uint ow = get_global_id(0) * 4;
  const uint oh = get_global_id(1);
  const uint row = get_global_id(2);
  if (ow >= (uint)OW || oh >= (uint)OH || row >= (uint)(C * KH)) return;
  const uint c = row / KH;
  const int h = (int)oh * SH + (int)(row - c * KH) * DH - PT;
  const int w = (int)ow * SW - PL;
  const int end = (uint)h < (uint)H ? W - w : 0;
  const uint p = oh * OW + ow;
  int first = ((int)c * H + h) * W + w;
  for (uint n = 0; n < (uint)N; ++n, first += C * H * W) {
    float part[LENGTH];
    if (first >= 0 && first + LENGTH <= N * C * H * W) {
      __global const float* line = BEHIND(src, float, 4u * (uint)first);
      TAKE_FLOATS(part, line, LENGTH)
    } else {
#pragma unroll
      for (int t = 0; t < LENGTH; ++t) {
        part[t] = *BEHIND(src, float, 4u * (uint)clamp(first + t, 0, N * C * H * W - 1));
      }
    }
#pragma unroll
    for (int t = 0; t < LENGTH; ++t) part[t] = t < end && (t >= PL || w + t >= 0) ? part[t] : 0.0f;
    if (ow + 4 <= (uint)OW) {
#pragma unroll
      for (int kw = 0; kw < KW; ++kw) {
        const int t = kw * DW;
        STORE4_dst(n, row * KW + kw, p, (float4)(part[t], part[t + SW], part[t + 2 * SW], part[t + 3 * SW]));
      }
    } else {
#pragma unroll
      for (int kw = 0; kw < KW; ++kw) {
        const int t = kw * DW;
        STORE_dst(n, row * KW + kw, p, part[t]);
        if (ow + 1 < (uint)OW) STORE_dst(n, row * KW + kw, p + 1, part[t + SW]);
        if (ow + 2 < (uint)OW) STORE_dst(n, row * KW + kw, p + 2, part[t + 2 * SW]);
      }
    }
  }
}
#undef LENGTH
