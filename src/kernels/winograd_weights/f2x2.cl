// SPDX-License-Identifier: Apache-2.0
//
// winograd_weights.f2x2: dst[x,o,c] = (G w G')[x / 4, x % 4] of the 3x3 filter w = src[o,c,:,:].
//
//   src(o, c, u, v), dst(x, o, c)   through accessors
//
//            1    0    0            one work-item: one filter; rows first (3x3 -> 4x3), then
//       G =  1/2  1/2  1/2          columns (4x3 -> 4x4). All factors are powers of two, so
//            1/2 -1/2  1/2          nothing is rounded that the sums do not round.
//            0    0    1
//
// Runs once, when a plan is loaded, since filters are constants.
// Tunables: LOCAL, work-items of a work-group.
// Source: A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2015.
__kernel ATTRIBUTES void winograd_weights_f2x2(ARGUMENTS) {
  const int c = get_global_id(0);
  const int o = get_global_id(1);
  if (c >= C) return;
  float rows[4][3];
  for (int v = 0; v < 3; ++v) {
    const float a = LOAD_src(o, c, 0, v);
    const float b = LOAD_src(o, c, 1, v);
    const float d = LOAD_src(o, c, 2, v);
    rows[0][v] = a;
    rows[1][v] = 0.5f * (a + b + d);
    rows[2][v] = 0.5f * (a - b + d);
    rows[3][v] = d;
  }
  for (int i = 0; i < 4; ++i) {
    const float a = rows[i][0];
    const float b = rows[i][1];
    const float d = rows[i][2];
    STORE_dst(4 * i, o, c, a);
    STORE_dst(4 * i + 1, o, c, 0.5f * (a + b + d));
    STORE_dst(4 * i + 2, o, c, 0.5f * (a - b + d));
    STORE_dst(4 * i + 3, o, c, d);
  }
}
