// SPDX-License-Identifier: Apache-2.0
//
// winograd_input.f4x4: dst[x,c,t] = (B' d B)[x / 6, x % 6] of the 6x6 patch d of channel c that tile t
// needs, for any device.
//
//   src(n, c, h, w), dst(x, c, t)   through accessors
//
//              image, 4 columns on for each tile         4  0 -5  0  1  0
//              [. . . . . .]                             0 -4 -4  1  1  0
//              [. . . . . .] [. .                  B' =  0  4 -4 -1  1  0     one work-item: one patch
//              [. . . . . .]  . .                        0 -2 -1  2  1  0     of one channel; columns
//              [. . . . . .]  . .]                       0  2 -1 -2  1  0     of d first, then rows
//              [. . . . . .]                             0  4  0 -5  0  1
//              [. . . . . .]
//
// Neighbouring patches overlap by two rows and columns, which are read again. Work-items are numbered
// along t, then c, so that neighbours write neighbours.
// Tunables: LOCAL, work-items of a work-group.
// Source: A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2015.
#define TRANSFORM(d, v)                                              \
  do {                                                               \
    (v)[0] = 4.0f * (d)[0] - 5.0f * (d)[2] + (d)[4];                 \
    (v)[1] = ((d)[4] - 4.0f * (d)[2]) + ((d)[3] - 4.0f * (d)[1]);    \
    (v)[2] = ((d)[4] - 4.0f * (d)[2]) - ((d)[3] - 4.0f * (d)[1]);    \
    (v)[3] = ((d)[4] - (d)[2]) + 2.0f * ((d)[3] - (d)[1]);           \
    (v)[4] = ((d)[4] - (d)[2]) - 2.0f * ((d)[3] - (d)[1]);           \
    (v)[5] = 4.0f * (d)[1] - 5.0f * (d)[3] + (d)[5];                 \
  } while (0)

__kernel ATTRIBUTES void winograd_input_f4x4(ARGUMENTS) {
  const int t = get_global_id(0);
  const int c = get_global_id(1);
  if (t >= T) return;
  const int n = (t + T0) / (TW * TH);
  const int h0 = (t + T0) / TW % TH * 4 - PT;
  const int w0 = (t + T0) % TW * 4 - PL;
  float half_done[6][6];  // [column of d][row of B' d]
#pragma unroll
  for (int q = 0; q < 6; ++q) {
    const int w = w0 + q;
    float d[6];
#pragma unroll
    for (int p = 0; p < 6; ++p) {
      const int h = h0 + p;
      d[p] = h >= 0 && h < H && w >= 0 && w < W ? LOAD_src(n, c, h, w) : 0.0f;
    }
    TRANSFORM(d, half_done[q]);
  }
#pragma unroll
  for (int i = 0; i < 6; ++i) {
    float d[6];
    float v[6];
#pragma unroll
    for (int q = 0; q < 6; ++q) d[q] = half_done[q][i];
    TRANSFORM(d, v);
#pragma unroll
    for (int j = 0; j < 6; ++j) STORE_dst(6 * i + j, c, t, v[j]);
  }
}
#undef TRANSFORM
