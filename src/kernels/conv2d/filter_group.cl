// SPDX-License-Identifier: Apache-2.0
//
// conv2d.filter_group: dst[n,o,oh,ow] = EPILOGUE(sum over i, kh, kw of
//     src[n, o/(O/G)*I + i, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[o,i,kh,kw]), for GPUs
//
//   src(n, c, h, w), weights(o, i, kh, kw), dst(n, o, oh, ow)   through accessors
//
// For large filters and few results, as the gradient of a filter is: a whole work-group computes
// ROWS x COLUMNS results of one output.
//
//      weights of o, along i, kh, kw   [0 1 2 .. LOCAL-1 | 0 1 2 .. LOCAL-1 | 0 1 ..]   work-item of each
//      src                             read beside it, ROWS x COLUMNS elements for each weight
//      partial sums                    [0 1 2 .. LOCAL-1] -> [0 1 .. LOCAL/2-1] -> .. -> [0] in local memory
//
// Work-groups are numbered along ow / COLUMNS, oh / ROWS, o, n and take further tiles until all are done.
//
// Tunables: ROWS, COLUMNS; LOCAL, work-items of a work-group, a power of two.
// Assumes: elements of dst and weights are countable in 31 bits.
#define RESULTS (ROWS * COLUMNS)

__kernel ATTRIBUTES void filter_group(ARGUMENTS) {
  __local TYPE_acc partial[RESULTS * LOCAL];
  const int item = get_local_id(0);
  const int down = (OH + ROWS - 1) / ROWS;
  const int across = (OW + COLUMNS - 1) / COLUMNS;
  const int tiles = N * O * down * across;
  for (int t = get_group_id(0); t < tiles; t += get_num_groups(0)) {
    const int ow = t % across * COLUMNS;
    const int oh = t / across % down * ROWS;
    const int o = t / across / down % O;
    const int n = t / across / down / O;
    const int first_channel = o / (O / G) * I;

    TYPE_acc sum[ROWS][COLUMNS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) sum[r][c] = 0;
    }
    for (int k = item; k < I * KH * KW; k += LOCAL) {
      const int i = k / (KH * KW);
      const int h0 = oh * SH + k / KW % KH * DH - PT;
      const int w0 = ow * SW + k % KW * DW - PL;
      const TYPE_acc weight = LOAD_weights(o, i, k / KW % KH, k % KW);
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        const int h = h0 + r * SH;
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
          const int w = w0 + c * SW;
          if (h >= 0 && h < H && w >= 0 && w < W) {
            sum[r][c] += weight * LOAD_src(n, first_channel + i, h, w);
          }
        }
      }
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) partial[(r * COLUMNS + c) * LOCAL + item] = sum[r][c];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_of = LOCAL / 2; half_of > 0; half_of /= 2) {
      if (item < half_of) {
#pragma unroll
        for (int e = 0; e < RESULTS; ++e) {
          partial[e * LOCAL + item] += partial[e * LOCAL + item + half_of];
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int e = item; e < RESULTS; e += LOCAL) {
      const int r = oh + e / COLUMNS;
      const int c = ow + e % COLUMNS;
      if (r < OH && c < OW) STORE_dst(n, o, r, c, EPILOGUE(partial[e * LOCAL], n, o, r, c));
    }
    // The next tile's sums may be written only when these have been read.
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
#undef RESULTS
