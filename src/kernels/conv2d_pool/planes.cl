// SPDX-License-Identifier: Apache-2.0
//
// conv2d_pool.planes: a convolution of few channels with the pool behind it, for CPUs
//   r[n,o,y,x] = MAPPED(bias[o] + sum over c, kh, kw of
//                src[n, c, y*SH + kh*DH - PT, x*SW + kw*DW - PL] * weights[o,c,kh,kw])
//   dst[n,o,oh,ow] = EPILOGUE(largest (COMBINE 3) or mean (COMBINE 0) of r over the window of
//                QH x QW at row oh*UH - QT and column ow*UW - QL)
//
//   src      NCHW   ((n*C + c)*H + h)*W + w
//   weights  IHWO   ((c*KH + kh)*KW + kw)*O + o
//   dst      NOHW   ((n*O + o)*OH + oh)*OW + ow
//
// A work-group is one work-item, which takes images, or bands of their rows, one after another. What
// lies under a band is copied, with its padding of zeros, into local memory, where rows of `pitch`
// elements follow each other; all of it is computed as one long row, and r is never written anywhere
// else:
//
//     copy of src, a channel       maps, TILE_O planes of r           dst
//     p p p p p p p p              A B C D - - -     MAPPED in        [max A B E F] [max C D G H]
//     p a b c d e f p    ---->     E F G H - - -     one long loop,   [max I J M N] ...
//     p g h i j k l p   filters    I J K L - - -     then rows and
//     p m n o p q r p              M N O P - - -     columns pooled
//
//     sums of TILE_O outputs and VECTORS * LANES neighbours of the long row are in registers at a time
//
// The last elements of a row, marked -, are of no use: KW - 1 of `pitch`. Where a window reaches into
// them, or above or below, they are overwritten by what does not count, -INFINITY or 0. With strides
// the copy is dealt out to SH * SW smaller ones, of every SH-th row and SW-th column.
//
// Edges: in place of outputs that do not exist the last one is computed.
//
// Tunables: LANES, floats of a vector; TILE_O and VECTORS of the tile in registers; SCRATCH, elements of the copy;
// MAPS, elements of a plane of r; GROUPS, work-items for each compute unit at most.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory; every
// window of a mean has something that counts.
// A tile may reach this far beyond what it is meant for.
#define REACH (LANES * VECTORS)
#define IS_MEAN (COMBINE == 0)
#define NOTHING (IS_MEAN ? 0.0f : -INFINITY)
#define POOLED_VECTOR(a, b) (IS_MEAN ? (a) + (b) : ((b) > (a) || (b) != (b) ? (b) : (a)))

__kernel ATTRIBUTES void pooled_planes(ARGUMENTS) {
  __local float copy[SCRATCH];
  __local float maps[TILE_O * MAPS];
  __local float pooled[MAPS];
  __local float across[MAPS];

  const int needed = max(max(RW + MORE_COLUMNS, QL + RW), (OW - 1) * UW + QW);
  const int pitch = (needed + UW - 1) / UW * UW;
  const int pooled_pitch = pitch / UW;
  const int copied_most = SCRATCH / (C * DOWN_PHASES * ACROSS_PHASES) - 2 * REACH;
  const int most_rows = min(copied_most / pitch - MORE_ROWS, (MAPS - REACH - 3 * LANES) / pitch);
  const int most_down = (most_rows - QH) / UH + 1;
  const int bands = (OH + most_down - 1) / most_down;
  const int down = (OH + bands - 1) / bands;
  const int map_rows = (down - 1) * UH + QH;
  const int phase = (map_rows + MORE_ROWS) * pitch + 2 * REACH;
  const int reaches_beyond = (QL > 0) | (QT > 0) | ((OW - 1) * UW + QW > QL + RW) |
                             ((OH - 1) * UH + QH > QT + RH);
  for (int i = 0; i < C * DOWN_PHASES * ACROSS_PHASES * phase; ++i) copy[i] = 0.0f;
  for (int i = 0; i < TILE_O * MAPS; ++i) maps[i] = 0.0f;
  for (int i = 0; i < MAPS; ++i) pooled[i] = 0.0f;
  for (int c = 0; c < MAPS; ++c) {
    const int count =
        counted(c * UW - QL, QW, 1, COUNT_PAD ? -QL : 0, RW + (COUNT_PAD ? QR : 0));
    across[c] = max(count, 1);
  }

  const int tiles = N * bands;
  const int last = share(tiles, get_global_id(0) + 1, get_global_size(0));
  for (int tile = share(tiles, get_global_id(0), get_global_size(0)); tile < last; ++tile) {
    const int n = tile / bands;
    const int oh0 = tile % bands * down;
    const int rows = min(down, OH - oh0);
    // Row 0 of the maps is row y0 of r; those from `first` on exist, `computed` of them.
    const int y0 = oh0 * UH - QT;
    const int first = max(-y0, 0);
    const int computed = min((rows - 1) * UH + QH, RH - y0) - first;
    const int copied_rows = (computed + MORE_ROWS) * DOWN_PHASES;
    const int h0 = (y0 + first) * SH - PT;

    for (int ch = 0; ch < C; ++ch) {
      const int image = (n * C + ch) * (H * W);
      __local float* plane = copy + ch * (DOWN_PHASES * ACROSS_PHASES) * phase;
      const int is_whole = (SH == 1) & (SW == 1) & (PL == 0) & (pitch == W) & (h0 >= 0) &
                           (h0 + copied_rows <= H);
      if (is_whole) {
        // Rows lie in the copy as they do in the image.
        const int count = copied_rows * W;
        const int left = N * C * H * W - (image + h0 * W);
        int c = 0;
        for (; c < count && c + LANES <= left; c += LANES) {
          *(__local vector*)(plane + c) = vector_at(src + image + h0 * W + c);
        }
        for (; c < count; ++c) plane[c] = number_at(src + image + h0 * W + c);
        continue;
      }
      for (int r = 0; r < copied_rows; ++r) {
        const int h = h0 + r / DOWN_PHASES * SH + r % DOWN_PHASES;
        const int is_row = h >= 0 && h < H;
        __local float* row =
            plane + (r % DOWN_PHASES * ACROSS_PHASES) * phase + r / DOWN_PHASES * pitch;
#pragma unroll
        for (int q = 0; q < ACROSS_PHASES; ++q) {
          // Column c of phase q is column q - PL + c * SW of the image.
          __local float* to = row + q * phase;
          const int begin = is_row ? clamp((SW - 1 + PL - q) / SW, 0, pitch) : 0;
          const int end = is_row ? clamp((max(W + PL - q, 0) + SW - 1) / SW, begin, pitch) : 0;
          __global const MEMORY_src* from = src + image + h * W + q - PL;
          for (int c = 0; c < begin; ++c) to[c] = 0.0f;
          for (int c = begin; c < end; ++c) to[c] = number_at(from + c * SW);
          for (int c = end; c < pitch; ++c) to[c] = 0.0f;
        }
      }
    }

    const int span = (computed - 1) * pitch + RW;
    for (int o0 = 0; o0 < O; o0 += TILE_O) {
      int output[TILE_O];
#pragma unroll
      for (int i = 0; i < TILE_O; ++i) output[i] = min(o0 + i, O - 1);
      for (int p = 0; p < span; p += REACH) {
        vector sum[TILE_O][VECTORS];
#pragma unroll
        for (int i = 0; i < TILE_O; ++i) {
#pragma unroll
          for (int j = 0; j < VECTORS; ++j) sum[i][j] = 0.0f;
        }
        __global const MEMORY_weights* filter = weights;
        for (int ch = 0; ch < C; ++ch) {
          for (int kh = 0; kh < KH; ++kh) {
            __local const float* row =
                copy + (ch * DOWN_PHASES + kh * DH % SH) * ACROSS_PHASES * phase + p +
                kh * DH / SH * pitch;
#pragma unroll
            for (int kw = 0; kw < KW; ++kw) {
              __local const float* from = row + kw * DW % SW * phase + kw * DW / SW;
              vector value[VECTORS];
#pragma unroll
              for (int j = 0; j < VECTORS; ++j) {
                value[j] = *(__local const vector*)(from + LANES * j);
              }
#pragma unroll
              for (int i = 0; i < TILE_O; ++i) {
                const float scalar = number_at(filter + kw * O + output[i]);
#pragma unroll
                for (int j = 0; j < VECTORS; ++j) sum[i][j] += scalar * value[j];
              }
            }
            filter += KW * O;
          }
        }
#pragma unroll
        for (int i = 0; i < TILE_O; ++i) {
#pragma unroll
          for (int j = 0; j < VECTORS; ++j) {
            *(__local vector*)(maps + i * MAPS + first * pitch + QL + p + LANES * j) = sum[i][j];
          }
        }
      }

      for (int o = o0; o < min(o0 + TILE_O, O); ++o) {
        __local float* map = maps + (o - o0) * MAPS;
        const float start = number_at(bias + o);
        __local float* begin = map + first * pitch + QL;
        for (int p = 0; p < span; ++p) begin[p] = MAPPED(begin[p] + start);
        if (reaches_beyond) {
          for (int r = 0; r < map_rows; ++r) {
            const int is_row = r >= first && r < first + computed;
            const int end = is_row ? QL : pitch;
            for (int c = 0; c < end; ++c) map[r * pitch + c] = NOTHING;
            for (int c = QL + RW; c < pitch; ++c) map[r * pitch + c] = NOTHING;
          }
        }
        // Rows first, in vectors that may write into the next row before that is computed.
        for (int r = 0; r < rows; ++r) {
          for (int c = 0; c < pitch; c += LANES) {
            __local const float* from = map + r * UH * pitch + c;
            vector value = *(__local const vector*)from;
#pragma unroll
            for (int q = 1; q < QH; ++q) {
              const vector next = *(__local const vector*)(from + q * pitch);
              value = POOLED_VECTOR(value, next);
            }
            *(__local vector*)(pooled + r * pitch + c) = value;
          }
        }
        // Columns in the same memory: what is written has been read.
        for (int e = 0; e < rows * pooled_pitch; e += LANES) {
          vector value = NOTHING;
#pragma unroll
          for (int q = 0; q < QW; ++q) {
            __local const float* from = pooled + e * UW + q;
            vector next;
            if (UW == 1) {
              next = *(__local const vector*)from;
            } else if (UW == 2) {
              next.lo = (*(__local const vector*)from).even;
              next.hi = (*(__local const vector*)(from + LANES)).even;
            } else {
              float each[LANES];
              for (int i = 0; i < LANES; ++i) each[i] = from[min(i * UW, MAPS - 1 - e * UW - q)];
              next = *(const vector*)each;
            }
            value = POOLED_VECTOR(value, next);
          }
          *(__local vector*)(pooled + e) = value;
        }
        // The map is of no more use: dst's rows go there, one after the other.
        for (int r = 0; r < rows; ++r) {
          const int down_count = counted((oh0 + r) * UH - QT, QH, 1, COUNT_PAD ? -QT : 0,
                                         RH + (COUNT_PAD ? QB : 0));
          for (int c = 0; c < OW; c += LANES) {
            vector value = *(__local const vector*)(pooled + r * pooled_pitch + c);
            if (IS_MEAN) value /= (float)down_count * *(__local const vector*)(across + c);
            *(__local vector*)(map + r * OW + c) = value;
          }
        }
        __global MEMORY_dst* out = dst + ((n * O + o) * OH + oh0) * OW;
        for (int e = 0; e < rows * OW; ++e) {
          put_number(out + e, EPILOGUE(map[e], n, o, oh0 + e / OW, e % OW));
        }
      }
    }
  }
}
#undef REACH
#undef IS_MEAN
#undef NOTHING
#undef POOLED_VECTOR
