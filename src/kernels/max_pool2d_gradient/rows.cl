// SPDX-License-Identifier: Apache-2.0
//
// max_pool2d_gradient.rows: as naive, for windows that lie side by side without padding, so that
// each element is in one window at most.
//
//   src [NCHW], above [NCHW], dst [NCHW], all as they lie in memory
//
//        src[n,c]  w ->           one work-item: rows of windows, and of each the KH rows of dst
//        [x x][x x][x x] .        under it; columns and rows behind the last windows become 0
//        [x x][x x][x x] .
//         .  .  .  .  .  .
//
// The first NaN counts as the largest, as in max_pool2d.
// Tunables: GROUPS, work-items for each compute unit, which share the rows.
// Assumes: elements of dst are countable in 31 bits.
__kernel ATTRIBUTES void max_gradient_rows(ARGUMENTS) {
  const int rows = N * C * OH;
  for (int r = (int)get_global_id(0); r < rows; r += (int)get_global_size(0)) {
    const int oh = r % OH;
    const int plane = r / OH;
    const int c = plane % C;
    const int n = plane / C;
    const int top = oh * KH;
    __global const float* from = src + (plane * H + top) * W;
    __global float* to = dst + (plane * H + top) * W;
    for (int ow = 0; ow < OW; ++ow) {
      float largest = from[ow * KW];
      int place = 0;
      for (int k = 1; k < KH * KW; ++k) {
        const float value = from[k / KW * W + ow * KW + k % KW];
        const int is_larger = value > largest || (value != value && largest == largest);
        largest = is_larger ? value : largest;
        place = is_larger ? k : place;
      }
      const float whole = above[r * OW + ow];
      for (int k = 0; k < KH * KW; ++k) {
        const int column = ow * KW + k % KW;
        const float own = place == k ? whole : 0.0f;
        to[k / KW * W + column] = EPILOGUE(own, n, c, top + k / KW, column);
      }
    }
    const int end = oh == OH - 1 ? H - top : KH;
    for (int row = 0; row < end; ++row) {
      for (int column = row < KH ? OW * KW : 0; column < W; ++column) {
        to[row * W + column] = EPILOGUE(0.0f, n, c, top + row, column);
      }
    }
  }
}
