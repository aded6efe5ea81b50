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
// along t, then c, so that neighbours write neighbours. A row is read by two loads; what lies beside the image belongs
// to another row or plane and counts as zero. Only patches that leave the tensor read each element by itself, and one
// of the tensor in place of what lies outside.
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

// Row p of the patch, which begins at `line`: read at once, one by one, and transformed.
#define READ(p)                      \
  TAKE_FLOATS(half_done[p], line, 6) \
  line = BEHIND(line, float, 4u * (uint)W);
#define READ_ALONE(p)                                                                                      \
  _Pragma("unroll") for (int q = 0; q < 6; ++q) {                                                          \
    half_done[p][q] = *BEHIND(src, float, 4u * (uint)clamp(first + (p)*W + q, 0, N * C * H * W - 1));      \
  }
#define HALF(p)                                                            \
  {                                                                        \
    float d[6];                                                            \
    const int end = (uint)(h0 + (p)) < (uint)H ? W - w0 : 0;               \
    _Pragma("unroll") for (int q = 0; q < 6; ++q) {                        \
      d[q] = q < end && (q >= PL || w0 + q >= 0) ? half_done[p][q] : 0.0f; \
    }                                                                      \
    TRANSFORM(d, half_done[p]);                                            \
  }

__kernel ATTRIBUTES void winograd_input_f4x4(ARGUMENTS) {
  const uint t = get_global_id(0);
  const uint c = get_global_id(1);
  if (t >= (uint)T) return;
  const tile_place at = tile_at(t + T0, TH, TW);
  const int h0 = at.row * 4 - PT;
  const int w0 = at.column * 4 - PL;
  const int first = ((at.n * C + (int)c) * H + h0) * W + w0;
  float half_done[6][6];  // [row of d][column of d, then of d B]
  if (first >= 0 && first + 5 * W + 6 <= N * C * H * W) {
    __global const float* line = BEHIND(src, float, 4u * (uint)first);
    READ(0) READ(1) READ(2) READ(3) READ(4) READ(5)
  } else {
    READ_ALONE(0) READ_ALONE(1) READ_ALONE(2) READ_ALONE(3) READ_ALONE(4) READ_ALONE(5)
  }
  HALF(0) HALF(1) HALF(2) HALF(3) HALF(4) HALF(5)
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
#undef READ
#undef READ_ALONE
#undef HALF
