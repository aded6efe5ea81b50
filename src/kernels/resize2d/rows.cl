// SPDX-License-Identifier: Apache-2.0
//
// resize2d.rows: dst[c,oh,ow] = EPILOGUE(sum over the TAPS rows h and TAPS columns w around
//     p = (HN*oh + HA) / HD and q = (WN*ow + WA) / WD of row weight * column weight * src[c,h,w]), for CPUs
//
//   src  CHW   (c*H + h)*W + w
//   dst  CHW   (c*OH + oh)*OW + ow
//
//     src    row h     . . . . . .        along w once for each row, with tables of places and weights
//                       \| \|  \|
//     lines  h%TAPS     x  x  x  x        TAPS of them are kept: the next row of dst needs mostly the same
//                       |  |  |  |
//     dst    row oh     y  y  y  y        along h, neighbours side by side
//
// A work-group is one work-item, which takes neighbouring rows of dst, COLUMNS wide. Weights are those of
// resize2d.naive, which has the drawing.
//
// Tunables: COLUMNS, columns of dst at a time; GROUPS, work-items for each compute unit at most.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory.
// Source: R. Keys, "Cubic convolution interpolation for digital image processing", 1981.
__kernel ATTRIBUTES void resize_rows(ARGUMENTS) {
  __local float lines[TAPS * COLUMNS];
  __local float weights[TAPS * COLUMNS];
  __local int places[TAPS * COLUMNS];
  int held[TAPS];
  int block = -1;
  int plane = -1;

  const int blocks = (OW + COLUMNS - 1) / COLUMNS;
  const int units = blocks * C * OH;
  const int last = share(units, get_global_id(0) + 1, get_global_size(0));
  for (int unit = share(units, get_global_id(0), get_global_size(0)); unit < last; ++unit) {
    const int oh = unit % OH;
    const int c = unit / OH % C;
    const int first = unit / (OH * C) * COLUMNS;
    const int columns = min(COLUMNS, OW - first);
    if (first != block) {
      for (int i = 0; i < columns; ++i) {
        const taps around = taps_at(WN, WA, WD, first + i, W, EXCLUDE, CUBIC);
        for (int t = 0; t < TAPS; ++t) {
          places[t * COLUMNS + i] = around.place[t];
          weights[t * COLUMNS + i] = around.weight[t];
        }
      }
    }
    if (first != block || c != plane) {
      for (int t = 0; t < TAPS; ++t) held[t] = -1;
    }
    block = first;
    plane = c;

    const taps rows = taps_at(HN, HA, HD, oh, H, EXCLUDE, CUBIC);
    for (int t = 0; t < TAPS; ++t) {
      const int slot = rows.place[t] % TAPS;
      if (held[slot] == rows.place[t]) continue;
      held[slot] = rows.place[t];
      __global const float* from = src + (c * H + rows.place[t]) * W;
      __local float* line = lines + slot * COLUMNS;
      for (int i = 0; i < columns; ++i) {
        float sum = 0.0f;
#pragma unroll
        for (int k = 0; k < TAPS; ++k) sum += weights[k * COLUMNS + i] * from[places[k * COLUMNS + i]];
        line[i] = sum;
      }
    }

    __global float* out = dst + (c * OH + oh) * OW + first;
    for (int i = 0; i < columns; ++i) {
      float sum = 0.0f;
#pragma unroll
      for (int t = 0; t < TAPS; ++t) sum += rows.weight[t] * lines[rows.place[t] % TAPS * COLUMNS + i];
      out[i] = EPILOGUE(sum, c, oh, first + i);
    }
  }
}
