// SPDX-License-Identifier: Apache-2.0
//
// conv2d.filter_rows: dst[n,o,oh,ow] = EPILOGUE(sum over i, kh, kw of
//     src[n, o/(O/G)*I + i, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[o,i,kh,kw]), for CPUs
//
//   src      NCHW   ((n*C + c)*H + h)*W + w,  c = o/(O/G)*I + i
//   weights  OIHW   ((o*I + i)*KH + kh)*KW + kw
//   dst      NOHW   ((n*O + o)*OH + oh)*OW + ow
//
// For filters with long rows and few results, as the gradient of a filter is: there the image is the
// layer's input and the filter what came back for its output. Sums run along rows of the filter, a vector's
// columns side by side; the partial sums of a result are added up at the end.
//
//      src, row h, in local memory   0 [. . . . . . . . . .] 0     zeros where it ends
//                                      \_________/
//                                    \_________/     \___ COLUMNS results of a row of dst read it, each
//      weights, row kh                [. . . . . .]       one step further; and so do ROWS rows of dst, of
//                                                         which each sees another row of the filter at it
//
// One work-item: ROWS x COLUMNS results of one output. Results beyond the edge are computed from what
// the copy holds, and not stored. With DW above 1 the copy deals the row out to DW rows of every DW-th
// element.
//
// Tunables: LANES, floats of a vector; ROWS, COLUMNS; WIDTH, elements of the copy.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory.
// `a * b + c` is left to the compiler to contract into one operation: PoCL's mad() is two.
#define VECTORS ((KW + LANES - 1) / LANES)
// Elements of each dealt row: those of the last result's last vector included.
#define REACH (((COLUMNS - 1) * SW) / DW + VECTORS * LANES)
#if DW * REACH > WIDTH
#error "conv2d.filter_rows: WIDTH must hold the columns that a tile's vectors reach"
#endif

__kernel ATTRIBUTES void filter_rows(ARGUMENTS) {
  __local float copy[WIDTH];
  const int down = (OH + ROWS - 1) / ROWS;
  const int across = (OW + COLUMNS - 1) / COLUMNS;
  const int tiles = N * O * down * across;
  const int last = share(tiles, get_global_id(0) + 1, get_global_size(0));
  for (int t = share(tiles, get_global_id(0), get_global_size(0)); t < last; ++t) {
    const int ow = t % across * COLUMNS;
    const int oh = t / across % down * ROWS;
    const int o = t / across / down % O;
    const int n = t / across / down / O;
    const int rows = min(OH - oh, ROWS);
    const int w0 = ow * SW - PL;
    const int h_begin = max(oh * SH - PT, 0);
    const int h_end = min((oh + rows - 1) * SH - PT + (KH - 1) * DH + 1, H);
    for (int x = 0; x < DW * REACH; ++x) copy[x] = 0.0f;

    vector sum[ROWS][COLUMNS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) sum[r][c] = 0.0f;
    }
    for (int i = 0; i < I; ++i) {
      __global const MEMORY_src* plane = src + (n * C + o / (O / G) * I + i) * H * W;
      const int first_weight = (o * I + i) * (KH * KW);
      for (int h = h_begin; h < h_end; ++h) {
        // What lies outside of the image stays as it was: zero.
        const int end = min(W - w0, DW * REACH);
        int x = max(-w0, 0);
        __global const MEMORY_src* line = plane + h * W + w0;
        if (DW == 1) {
          for (; x + LANES <= end; x += LANES) {
            *(__local vector*)(copy + x) = vector_at(line + x);
          }
        }
        for (; x < end; ++x) copy[x % DW * REACH + x / DW] = number_at(line + x);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
          const int from_top = h + PT - (oh + r) * SH;
          const int kh = from_top / DH;
          if ((r >= rows) | (from_top < 0) | (kh >= KH) | (from_top % DH != 0)) continue;
          const int place = first_weight + kh * KW;
#pragma unroll
          for (int v = 0; v < KW; v += LANES) {
            vector filter = 0.0f;
            if (v + LANES <= KW) {
              filter = vector_at(weights + place + v);
            } else if (place + v + LANES <= O * (I * KH * KW)) {
              // What follows the row is not the row's.
              filter = vector_at(weights + place + v);
#pragma unroll
              for (int l = 0; l < LANES; ++l) {
                if (v + l >= KW) filter[l] = 0.0f;
              }
            } else {
#pragma unroll
              for (int l = 0; l < LANES; ++l) {
                if (v + l < KW) filter[l] = number_at(weights + place + v + l);
              }
            }
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c) {
              sum[r][c] += filter * *(__local const vector*)(copy + c * SW % DW * REACH +
                                                              c * SW / DW + v);
            }
          }
        }
      }
    }
    float results[ROWS * COLUMNS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) {
        results[r * COLUMNS + c] = sum_of(sum[r][c]);
      }
    }
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < min(OW - ow, COLUMNS); ++c) {
        put_number(dst + ((n * O + o) * OH + oh + r) * OW + ow + c,
                   EPILOGUE(results[r * COLUMNS + c], n, o, oh + r, ow + c));
      }
    }
  }
}
#undef VECTORS
#undef REACH
