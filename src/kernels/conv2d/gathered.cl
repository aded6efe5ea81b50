// SPDX-License-Identifier: Apache-2.0
//
// conv2d.gathered: dst[n,o,oh,ow] = EPILOGUE(sum over i, kh, kw of
//     src[n, o/(O/G)*I + i, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[o,i,kh,kw]), for CPUs
//
//   src      NCHW   ((n*C + c)*H + h)*W + w,  c = o/(O/G)*I + i
//   weights  OIHW   o*K + k,  k = (i*KH + kh)*KW + kw,  K = I*KH*KW
//   dst      NOHW   ((n*O + o)*OH + oh)*OW + ow
//
// The product weights[O/G,K] * columns[K,N*OH*OW] of im2col for each group, as gemm.tile_copied computes
// it, of which no columns are ever written to memory: a work-group is one work-item, and gathers the
// TILE_N columns that it needs from the image into a panel of local memory.
//
//          src, channel c                 the panel: row k = (i, kh, kw)
//      . . . . . . . . . . .               a b c d e f g h | i j k l m n     TILE_N pixels of dst;
//      . [a b c d e f g h] .   -------->   one run for each row of dst that
//      . . . . . . . . . . .               they lie in, zeros where the
//      . [i j k l m n] . . .               filter hangs over the image
//                                            |   |   |
//          weights   k                       v   v   v
//          o         x  ---->              [L ][L ][L ]     a tile: TILE_M * TILE_N/L accumulators
//          o+TILE_M  x  ---->              [L ][L ][L ]     the next tile reads the same panel
//
// The panel is DEPTH rows deep at most (shared/band.clh). The bounds of a run depend on (kh, kw) alone and
// serve all channels.
//
// Work-groups along O come first, those of a group one after another. The last pixels, if they are fewer than
// TILE_N, come before all others: they cost less, and what is left for the end is then of one size; they are
// computed in vectors of L, one after the other.
//
// Edges: in place of outputs that do not exist the last one of the band is computed.
//
// Tunables: LANES, the L above: floats of a vector; TILE_M outputs and TILE_N pixels (a multiple of LANES) of the
// tile; BAND_M outputs of a band at most (a multiple of TILE_M); DEPTH rows of the panel. How many bands there are is
// the global size.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory.
__kernel ATTRIBUTES void gathered(ARGUMENTS) {
  __local float panel[DEPTH * TILE_N];
  __local float sums[BAND_M * TILE_N];
  const int K = I * KH * KW;
  const int pixels = N * OH * OW;
  const int bands = get_global_size(0) / G;
  const int group = get_global_id(0) / bands;
  const int group_outputs = O / G;
  const int height = ((group_outputs + TILE_M - 1) / TILE_M + bands - 1) / bands * TILE_M;
  const int in_group = get_global_id(0) % bands * height;
  const int o0 = group * group_outputs + in_group;
  const int outputs = min(group_outputs - in_group, height);
  const int p0 = (get_global_size(1) - 1 - get_global_id(1)) * TILE_N;
  const int columns = min(pixels - p0, TILE_N);
  const int wide = (columns + LANES - 1) / LANES * LANES;

  // The runs: pixels of the panel that lie in one row of dst.
  int run_end[TILE_N];
  int run_h[TILE_N];
  int run_w[TILE_N];
  int run_n[TILE_N];
  int runs = 0;
  for (int c = 0; c < columns; ++runs) {
    const int p = p0 + c;
    c = min(c + OW - p % OW, columns);
    run_end[runs] = c;
    run_w[runs] = p % OW * SW - PL;
    run_h[runs] = p / OW % OH * SH - PT;
    run_n[runs] = p / OW / OH;
  }

  for (int k0 = 0; k0 < K; k0 += DEPTH) {
    const int depth = min(K - k0, DEPTH);
    for (int f = 0; f < KH * KW; ++f) {
      // The channels of which position f of the filter is a row of this panel.
      const int first = (max(k0 - f, 0) + KH * KW - 1) / (KH * KW);
      const int last = (k0 + depth - f + KH * KW - 1) / (KH * KW);
      float row[TILE_N + LANES];
      for (int c = 0; c < wide; ++c) row[c] = 0.0f;
      int begin[TILE_N];
      int end[TILE_N];
      int start[TILE_N];
      int from = 0;
      for (int r = 0; r < runs; ++r) {
        const int h = run_h[r] + f / KW * DH;
        const int w = run_w[r] + f % KW * DW;
        const int inside = h >= 0 && h < H;
        begin[r] = min(from + (max(-w, 0) + SW - 1) / SW, run_end[r]);
        end[r] = inside ? clamp(from + (max(W - w, 0) + SW - 1) / SW, begin[r], run_end[r])
                        : begin[r];
        start[r] = ((run_n[r] * C + group * I) * H + h) * W + w + (begin[r] - from) * SW;
        from = run_end[r];
      }
      for (int ch = first; ch < last; ++ch) {
        for (int r = 0; r < runs; ++r) {
          __global const MEMORY_src* line = src + start[r] + ch * H * W;
          int c = begin[r];
          if (SW <= 2) {
            // Vectors may reach beyond the run, but not beyond src.
            const int left = N * C * H * W - (start[r] + ch * H * W);
            for (; c < end[r] && left >= (c - begin[r] + LANES) * SW; c += LANES) {
              const vector one = vector_at(line + (c - begin[r]) * SW);
              if (SW == 1) {
                *(vector*)(row + c) = one;
              } else {
                const vector two = vector_at(line + (c - begin[r]) * SW + LANES);
                vector even;
                even.lo = one.even;
                even.hi = two.even;
                *(vector*)(row + c) = even;
              }
            }
          }
          for (; c < end[r]; ++c) row[c] = number_at(line + (c - begin[r]) * SW);
          // What lies outside of the image, and what the vectors of this run have overwritten.
          const int next = r + 1 < runs ? begin[r + 1] : wide;
          for (c = end[r]; c < next; ++c) row[c] = 0.0f;
        }
        __local float* to = panel + (ch * KH * KW + f - k0) * TILE_N;
        for (int c = 0; c < wide; c += LANES) {
          *(__local vector*)(to + c) = *(const vector*)(row + c);
        }
      }
    }
    for (int t = 0; t < outputs; t += TILE_M) {
      tile_row filter[TILE_M];
#if HOLDS_FLOATS(MEMORY_weights)
#pragma unroll
      for (int i = 0; i < TILE_M; ++i) filter[i] = weights + (o0 + min(t + i, outputs - 1)) * K + k0;
#else
      float numbers[TILE_M][DEPTH];
      for (int i = 0; i < TILE_M; ++i) {
        widen(numbers[i], weights + (o0 + min(t + i, outputs - 1)) * K + k0, 1, depth);
      }
#pragma unroll
      for (int i = 0; i < TILE_M; ++i) filter[i] = numbers[i];
#endif
      __local float* waiting = sums + t * TILE_N;
      if (columns < TILE_N) {
        multiply_narrow(waiting, filter, 1, panel, depth, columns, k0 == 0);
      } else {
        vector sum[TILE_M][TILE_VECTORS];
        take_waiting(sum, waiting, k0 == 0);
        multiply_panel(sum, filter, 1, panel, depth);
        leave_waiting(sum, waiting);
      }
      if (k0 + DEPTH < K) continue;
      // The text of the epilogue stands once: it may be long, and PoCL compiles every copy.
      for (int i = t; i < min(t + TILE_M, outputs); ++i) {
        int c = 0;
        for (int r = 0; r < runs; ++r) {
          const int n = run_n[r];
          const int oh = (p0 + c) / OW % OH;
          const int ow = (p0 + c) % OW;
          __global MEMORY_dst* out = dst + ((n * O + o0 + i) * OH + oh) * OW + ow;
          const int length = run_end[r] - c;
          for (int x = 0; x < length; ++x) {
            put_number(out + x, EPILOGUE(sums[i * TILE_N + c + x], n, o0 + i, oh, ow + x));
          }
          c = run_end[r];
        }
      }
    }
  }
}
