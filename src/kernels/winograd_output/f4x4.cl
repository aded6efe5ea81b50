// SPDX-License-Identifier: Apache-2.0
//
// winograd_output.f4x4: the 4x4 results A' m A of tile t and channel o, of its 36 products
// m = src[:,o,t], into dst[n,o,oh,ow] = EPILOGUE(result), for any device.
//
//   src(x, o, t), dst(n, o, oh, ow)   through accessors
//
//              1  1  1  1  1  0
//       A' =   0  1 -1  2 -2  0          one work-item: one tile of 4x4 results of one channel;
//              0  1  1  4  4  0          columns of m first, then rows
//              0  1 -1  8 -8  1
//
// A tile at the lower or right edge of an image whose extents are no multiples of 4 hangs over it; what
// lies outside is not stored.
// Tunables: LOCAL, work-items of a work-group.
// Source: A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2015.
#define TRANSFORM(m, y)                                                                \
  do {                                                                                 \
    (y)[0] = (m)[0] + ((m)[1] + (m)[2]) + ((m)[3] + (m)[4]);                           \
    (y)[1] = ((m)[1] - (m)[2]) + 2.0f * ((m)[3] - (m)[4]);                             \
    (y)[2] = ((m)[1] + (m)[2]) + 4.0f * ((m)[3] + (m)[4]);                             \
    (y)[3] = ((m)[1] - (m)[2]) + 8.0f * ((m)[3] - (m)[4]) + (m)[5];                    \
  } while (0)
#define RESULT(v, y, x) (v)

__kernel ATTRIBUTES void winograd_output_f4x4(ARGUMENTS) {
  const uint t = get_global_id(0);
  const uint o = get_global_id(1);
  if (t >= (uint)T) return;
  const tile_place at = tile_at(t + T0, TH, TW);
  const uint n = at.n;
  const uint oh = at.row * 4;
  const uint ow = at.column * 4;
  float half_done[6][4];  // [column of m][row of A' m]
#pragma unroll
  for (int q = 0; q < 6; ++q) {
    float m[6];
#pragma unroll
    for (int p = 0; p < 6; ++p) m[p] = LOAD_src(6 * p + q, o, t);
    TRANSFORM(m, half_done[q]);
  }
  float result[4][4];
#pragma unroll
  for (int y = 0; y < 4; ++y) {
    float m[6];
#pragma unroll
    for (int q = 0; q < 6; ++q) m[q] = half_done[q][y];
    TRANSFORM(m, result[y]);
  }
  // The rows move up instead of being indexed, which would put all in memory.
  for (uint y = oh; y < min(oh + 4, (uint)OH); ++y) {
    float4 four = (float4)(result[0][0], result[0][1], result[0][2], result[0][3]);
    STORE_FOUR(four, n, o, y, ow)
#pragma unroll
    for (int i = 1; i < 4; ++i) {
#pragma unroll
      for (int z = 0; z < 4; ++z) result[i - 1][z] = result[i][z];
    }
  }
}
#undef TRANSFORM
#undef RESULT
