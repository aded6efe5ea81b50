// SPDX-License-Identifier: Apache-2.0
//
// winograd_input.f2x2: dst[x,c,t] = (B' d B)[x / 4, x % 4] of the 4x4 patch d = src[c,t,:,:].
//
//   src(c, t, p, q), dst(x, c, t)   through accessors
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
  float half_done[4][4];
  for (int q = 0; q < 4; ++q) {
    const float d0 = LOAD_src(c, t, 0, q);
    const float d1 = LOAD_src(c, t, 1, q);
    const float d2 = LOAD_src(c, t, 2, q);
    const float d3 = LOAD_src(c, t, 3, q);
    half_done[0][q] = d0 - d2;
    half_done[1][q] = d1 + d2;
    half_done[2][q] = d2 - d1;
    half_done[3][q] = d1 - d3;
  }
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
