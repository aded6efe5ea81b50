// SPDX-License-Identifier: Apache-2.0
//
// winograd_output.f2x2: the 2x2 results A' m A of tile t and channel o, of its 16 products
// m = src[:,o,t], into dst[n,o,oh,ow] = EPILOGUE(result), for any device.
//
//   src(x, o, t), dst(n, o, oh, ow)   through accessors
//
//              1  1  1  0          one work-item: one tile of 2x2 results of one channel;
//       A' =   0  1 -1 -1          columns of m first, then rows
//
// A tile at the lower or right edge of an image with odd extents hangs over it; what lies outside is
// not stored.
// Tunables: LOCAL, work-items of a work-group.
// Source: A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2015.
__kernel ATTRIBUTES void winograd_output_f2x2(ARGUMENTS) {
  const int t = get_global_id(0);
  const int o = get_global_id(1);
  if (t >= T) return;
  const tile_place at = tile_at(t + T0, TH, TW);
  const int n = at.n;
  const int oh = at.row * 2;
  const int ow = at.column * 2;
  float half_done[2][4];
#pragma unroll
  for (int q = 0; q < 4; ++q) {
    const float m0 = LOAD_src(q, o, t);
    const float m1 = LOAD_src(4 + q, o, t);
    const float m2 = LOAD_src(8 + q, o, t);
    const float m3 = LOAD_src(12 + q, o, t);
    half_done[0][q] = m0 + m1 + m2;
    half_done[1][q] = m1 - m2 - m3;
  }
  for (int y = 0; y < 2 && oh + y < OH; ++y) {
    const float m0 = half_done[0][0];
    const float m1 = half_done[0][1];
    const float m2 = half_done[0][2];
    const float m3 = half_done[0][3];
    const float left = m0 + m1 + m2;
    const float right = m1 - m2 - m3;
    STORE_dst(n, o, oh + y, ow, EPILOGUE(left, n, o, oh + y, ow));
    if (ow + 1 < OW) STORE_dst(n, o, oh + y, ow + 1, EPILOGUE(right, n, o, oh + y, ow + 1));
    // The second row moves up instead of being indexed, which would put both in memory.
#pragma unroll
    for (int q = 0; q < 4; ++q) half_done[0][q] = half_done[1][q];
  }
}
