// SPDX-License-Identifier: Apache-2.0
//
// winograd_weights.f4x4: dst[x,o,c] = (G w G')[x / 6, x % 6] of the 3x3 filter w = src[o,c,:,:].
//
//   src(o, c, u, v), dst(x, o, c)   through accessors
//
//            1/4    0    0
//           -1/6 -1/6 -1/6            one work-item: one filter; rows first (3x3 -> 6x3), then columns
//       G = -1/6  1/6 -1/6            (6x3 -> 6x6). Sums come before the one rounding that a factor
//           1/24 1/12  1/6            costs.
//           1/24 -1/12 1/6
//              0    0    1
//
// Runs once, when a plan is loaded, since filters are constants.
// Tunables: LOCAL, work-items of a work-group.
// Source: A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2015.
#define TRANSFORM(a, b, d, v)                                      \
  do {                                                             \
    (v)[0] = 0.25f * (a);                                          \
    (v)[1] = -((a) + (b) + (d)) / 6.0f;                            \
    (v)[2] = -((a) - (b) + (d)) / 6.0f;                            \
    (v)[3] = ((a) + 2.0f * (b) + 4.0f * (d)) / 24.0f;              \
    (v)[4] = ((a) - 2.0f * (b) + 4.0f * (d)) / 24.0f;              \
    (v)[5] = (d);                                                  \
  } while (0)

__kernel ATTRIBUTES void winograd_weights_f4x4(ARGUMENTS) {
  const int c = get_global_id(0);
  const int o = get_global_id(1);
  if (c >= C) return;
  float rows[3][6];  // [column of w][row of G w]
#pragma unroll
  for (int v = 0; v < 3; ++v) {
    const float a = LOAD_src(o, c, 0, v);
    const float b = LOAD_src(o, c, 1, v);
    const float d = LOAD_src(o, c, 2, v);
    TRANSFORM(a, b, d, rows[v]);
  }
#pragma unroll
  for (int i = 0; i < 6; ++i) {
    float across[6];
    TRANSFORM(rows[0][i], rows[1][i], rows[2][i], across);
#pragma unroll
    for (int j = 0; j < 6; ++j) STORE_dst(6 * i + j, o, c, across[j]);
  }
}
#undef TRANSFORM
