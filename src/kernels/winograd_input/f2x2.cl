// SPDX-License-Identifier: Apache-2.0
//
// winograd_input.f2x2: dst[x,c,t] = (B' d B)[x / 4, x % 4] of the 4x4 patch d of channel c that tile t
// needs, for any device.
//
//   src(n, c, h, w), dst(x, c, t)   through accessors
//
//              image, 2 columns on for each tile         1  0 -1  0
//              [. . . .]                           B' =  0  1  1  0     one work-item: one patch of one
//              [. . . .] [. .                            0 -1  1  0     channel; columns of d first,
//              [. . . .]  . .]                           0  1  0 -1     then rows
//              [. . . .]
//
// Neighbouring patches overlap by two rows and columns, which are read again. Work-items are numbered
// along t, then c, so that neighbours write neighbours.
// Tunables: LOCAL, work-items of a work-group.
// Source: A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2015.
__kernel ATTRIBUTES void winograd_input_f2x2(ARGUMENTS) {
  const int t = get_global_id(0);
  const int c = get_global_id(1);
  if (t >= T) return;
  const tile_place at = tile_at(t + T0, TH, TW);
  const int n = at.n;
  const int h0 = at.row * 2 - PT;
  const int w0 = at.column * 2 - PL;
  float half_done[4][4];
#pragma unroll
  for (int q = 0; q < 4; ++q) {
    const int w = w0 + q;
    float d[4];
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      const int h = h0 + p;
      d[p] = h >= 0 && h < H && w >= 0 && w < W ? LOAD_src(n, c, h, w) : 0.0f;
    }
    half_done[0][q] = d[0] - d[2];
    half_done[1][q] = d[1] + d[2];
    half_done[2][q] = d[2] - d[1];
    half_done[3][q] = d[1] - d[3];
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float d0 = half_done[i][0];
    const float d1 = half_done[i][1];
    const float d2 = half_done[i][2];
    const float d3 = half_done[i][3];
    STORE_dst(4 * i, c, t, d0 - d2);
    STORE_dst(4 * i + 1, c, t, d1 + d2);
    STORE_dst(4 * i + 2, c, t, d2 - d1);
    STORE_dst(4 * i + 3, c, t, d1 - d3);
  }
}
