// SPDX-License-Identifier: Apache-2.0
//
// max_pool2d_gradient.cells: as naive, for GPUs.
//
//   src(n, c, h, w), above(n, c, oh, ow), dst(n, c, h, w)   through accessors
//
//        src[n,c]  w ->
//        h  x x|x x|x .        one work-item: a cell of SH * SW elements of dst, all of which lie in the same windows.
//        |  x x|x x|x .        It finds the largest element of each, and adds what is above to the one that lies in the
//        v  ---+---+---        cell. Cells are numbered along w, h, c, n and spread over two dimensions of 32,768 at
//           x x|x x|x .        most
//
// naive finds the largest element of a window once for each element of the window.
//
// The first NaN counts as the largest, as in max_pool2d.
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits; windows without holes.
#define CELLS_H ((H + PT + SH - 1) / SH)
#define CELLS_W ((W + PL + SW - 1) / SW)
// Windows in which a cell lies, along h and w.
#define WINDOWS_H ((KH - 1) / SH + 1)
#define WINDOWS_W ((KW - 1) / SW + 1)

__kernel ATTRIBUTES void max_gradient_cells(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)(N * C * CELLS_H * CELLS_W)) return;
  const int b = e % CELLS_W;
  const int a = e / CELLS_W % CELLS_H;
  const int c = e / (CELLS_W * CELLS_H) % C;
  const int n = e / (CELLS_W * CELLS_H * C);

  TYPE_acc sums[SH * SW];
#pragma unroll
  for (int s = 0; s < SH * SW; ++s) sums[s] = 0;
#pragma unroll
  for (int i = 0; i < WINDOWS_H; ++i) {
    const int oh = a - i;
    if (oh < 0 || oh >= OH) continue;
#pragma unroll
    for (int j = 0; j < WINDOWS_W; ++j) {
      const int ow = b - j;
      if (ow < 0 || ow >= OW) continue;
      TYPE_src largest = 0;
      int place = -1;
#pragma unroll
      for (int k = 0; k < KH * KW; ++k) {
        const int row = oh * SH - PT + k / KW;
        const int column = ow * SW - PL + k % KW;
        if (row < 0 || row >= H || column < 0 || column >= W) continue;
        const TYPE_src value = LOAD_src(n, c, row, column);
        if (place >= 0 && !(value > largest) && !(value != value && largest == largest)) continue;
        largest = value;
        place = k;
      }
      const int row = place / KW - i * SH;
      const int column = place % KW - j * SW;
      if (place < 0 || row < 0 || row >= SH || column < 0 || column >= SW) continue;
      const TYPE_acc value = LOAD_above(n, c, oh, ow);
      // An index that is no constant would put the sums into memory.
#pragma unroll
      for (int s = 0; s < SH * SW; ++s) sums[s] += s == row * SW + column ? value : (TYPE_acc)0;
    }
  }
#pragma unroll
  for (int s = 0; s < SH * SW; ++s) {
    const int h = a * SH - PT + s / SW;
    const int w = b * SW - PL + s % SW;
    if (h < 0 || h >= H || w < 0 || w >= W) continue;
    STORE_dst(n, c, h, w, EPILOGUE(sums[s], n, c, h, w));
  }
}
#undef CELLS_H
#undef CELLS_W
#undef WINDOWS_H
#undef WINDOWS_W
