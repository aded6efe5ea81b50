// SPDX-License-Identifier: Apache-2.0
//
// winograd_input.f4x4: dst[x,c,t] = (B' d B)[x / 6, x % 6] of the 6x6 patch d of channel c that tile t
// needs, for any device.
//
//   src   NCHW   ((n*C + c)*H + h)*W + w
//   dst(x, c, t)   through accessors
//
//              image, 4 columns on for each tile         4  0 -5  0  1  0
//              [. . . . . .]                             0 -4 -4  1  1  0
//              [. . . . . .] [. .                  B' =  0  4 -4 -1  1  0     one work-item: one patch
//              [. . . . . .]  . .                        0 -2 -1  2  1  0     of one channel; rows of
//              [. . . . . .]  . .]                       0  2 -1 -2  1  0     d first, then columns
//              [. . . . . .]                             0  4  0 -5  0  1
//              [. . . . . .]
//
// Neighbouring patches overlap by two rows and columns, which are read again. Work-items are numbered
// along t, then c, so that neighbours write neighbours. A row is read at constant distances from its first
// element, which costs GPUs no address for each; what lies beside the image belongs to another row or plane and
// counts as zero. Only patches that leave the tensor ask before each load.
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

// Row p of the patch, which begins at `line`.
#define ROW(p)                                                          \
  {                                                                     \
    float d[6];                                                         \
    const int is_row = ((p) >= PT || h0 + (p) >= 0) && (p) < rows;      \
    _Pragma("unroll") for (int q = 0; q < 6; ++q) {                     \
      const float element = line[q];                                    \
      d[q] = q >= PL || w0 + q >= 0 ? element : 0.0f;                   \
      d[q] = q < columns ? d[q] : 0.0f;                                 \
      d[q] = is_row ? d[q] : 0.0f;                                      \
    }                                                                   \
    TRANSFORM(d, half_done[p]);                                         \
    line = BEHIND(line, float, 4u * (uint)W);                           \
  }

__kernel ATTRIBUTES void winograd_input_f4x4(ARGUMENTS) {
  const int t = get_global_id(0);
  const int c = get_global_id(1);
  if (t >= T) return;
  const tile_place at = tile_at(t + T0, TH, TW);
  const int n = at.n;
  const int h0 = at.row * 4 - PT;
  const int w0 = at.column * 4 - PL;
  const int first = ((n * C + c) * H + h0) * W + w0;
  if (first < 0 || first + 5 * W + 6 > N * C * H * W) {
    float patch[6][6];
    for (int p = 0; p < 36; ++p) patch[p / 6][p % 6] = 0.0f;
    for (int p = max(0, -h0); p < min(6, H - h0); ++p) {
      float d[6];
      for (int q = 0; q < 6; ++q) {
        d[q] = 0.0f;
        if (w0 + q >= 0 && w0 + q < W) d[q] = AT_src(first + p * W + q);
      }
      TRANSFORM(d, patch[p]);
    }
    for (int j = 0; j < 6; ++j) {
      float d[6];
      float v[6];
      for (int p = 0; p < 6; ++p) d[p] = patch[p][j];
      TRANSFORM(d, v);
      for (int i = 0; i < 6; ++i) STORE_dst(6 * i + j, c, t, v[i]);
    }
    return;
  }
  // Of the image, from the patch's first row and column on.
  const int rows = H - h0;
  const int columns = W - w0;
  __global const float* line = BEHIND(src, float, 4u * (uint)first);
  float half_done[6][6];  // [row of d][column of d B]
  ROW(0) ROW(1) ROW(2) ROW(3) ROW(4) ROW(5)
#pragma unroll
  for (int j = 0; j < 6; ++j) {
    float d[6];
    float v[6];
#pragma unroll
    for (int p = 0; p < 6; ++p) d[p] = half_done[p][j];
    TRANSFORM(d, v);
#pragma unroll
    for (int i = 0; i < 6; ++i) STORE_dst(6 * i + j, c, t, v[i]);
  }
}
#undef TRANSFORM
#undef ROW
