// SPDX-License-Identifier: Apache-2.0
//
// winograd_input.planes: dst[x,c,t] = (B' d B)[x / P, x % P] of the PxP patch d of channel c that tile t
// needs, P = OUT + 2, OUT = 2 or 4, for CPUs.
//
//   src           NCHW   ((n*C + c)*H + h)*W + w
//   dst(x, c, t)  through accessors, LANES tiles at once
//
//   A work-group is one work-item, which takes CHUNK tiles of a channel at a time, row of tiles by row:
//
//     1. columns    P rows of the image              B' d for all columns: neighbours stay neighbours,
//                   [a b c d e f g h i j ...         and nothing is computed twice where patches overlap
//     2. dealt      every OUT-th column together:    dealt[i][0] = a e i ...  a number for each tile
//                   (OUT = 4)                        dealt[i][1] = b f j ...
//                                                    dealt[i][4] = e i m ...
//     3. rows       (B' d) B from dealt[i][0..P-1], LANES tiles at once, whatever rows they are of
//
// Where a patch hangs over the image, the columns are zero.
//
// The matrices stand in shared/winograd_input.clh.
//
// Tunables: LANES, floats of a vector; CHUNK, tiles of a unit, a multiple of LANES; GROUPS, work-items for
// each compute unit at most.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory.
// Vectors may reach this far beyond what they are meant for.
#define SPARE (2 * LANES)

__kernel ATTRIBUTES void winograd_input_planes(ARGUMENTS) {
  __local float columns[PATCH * (OUT * CHUNK + SPARE)];
  __local float dealt[PATCH * PATCH * (CHUNK + SPARE)];
  const int wide = OUT * CHUNK + SPARE;
  for (int i = 0; i < PATCH * wide; ++i) columns[i] = 0.0f;
  for (int i = 0; i < PATCH * PATCH * (CHUNK + SPARE); ++i) dealt[i] = 0.0f;

  const int chunks = (T + CHUNK - 1) / CHUNK;
  const int units = C * chunks;
  const int last = share(units, get_global_id(0) + 1, get_global_size(0));
  for (int unit = share(units, get_global_id(0), get_global_size(0)); unit < last; ++unit) {
    const int c = unit / chunks;
    const int t0 = unit % chunks * CHUNK;
    const int tiles = min(CHUNK, T - t0);
    for (int done = 0; done < tiles;) {
      // The tiles of one row that the unit has.
      const int tile = T0 + t0 + done;
      const int count = min(TW - tile % TW, tiles - done);
      const int h0 = tile / TW % TH * OUT - PT;
      const int w0 = tile % TW * OUT - PL;
      const int width = OUT * count + 2;
      const int begin = clamp(-w0, 0, width);
      const int end = clamp(W - w0, begin, width);
      const int start = (tile / (TW * TH) * C + c) * H * W + h0 * W + w0;

      // 1. Columns; vectors may reach beyond the row, but not beyond src.
      for (int p = 0; p < PATCH; ++p) {
        for (int x = 0; x < begin; ++x) columns[p * wide + x] = 0.0f;
      }
      for (int x = begin; x < end; x += LANES) {
        vector d[PATCH];
        vector v[PATCH];
#pragma unroll
        for (int p = 0; p < PATCH; ++p) {
          d[p] = 0.0f;
          if (h0 + p < 0 || h0 + p >= H) continue;
          const int from = start + p * W + x;
          if (from + LANES <= N * C * H * W) {
            d[p] = vector_at(src + from);
          } else {
            float some[LANES];
            for (int l = 0; l < LANES; ++l) some[l] = x + l < end ? number_at(src + from + l) : 0.0f;
            d[p] = *(const vector*)some;
          }
        }
        transform_input(d, v);
#pragma unroll
        for (int p = 0; p < PATCH; ++p) *(__local vector*)(columns + p * wide + x) = v[p];
      }
      for (int p = 0; p < PATCH; ++p) {
        for (int x = end; x < width; ++x) columns[p * wide + x] = 0.0f;
      }

      // 2. Dealt; what vectors write beyond these tiles is overwritten by those that follow.
      for (int i = 0; i < PATCH; ++i) {
        __local float* to = dealt + i * PATCH * (CHUNK + SPARE) + done;
        for (int x = 0; x < count; x += LANES) {
#pragma unroll
          for (int shift = 0; shift < PATCH; shift += OUT) {
            __local const vector* from =
                (__local const vector*)(columns + i * wide + OUT * x + shift);
            vector found[OUT];
#if OUT == 4
            vector even[2];
            vector odd[2];
#pragma unroll
            for (int e = 0; e < 2; ++e) {
              const vector one = from[2 * e];
              const vector two = from[2 * e + 1];
              even[e].lo = one.even;
              even[e].hi = two.even;
              odd[e].lo = one.odd;
              odd[e].hi = two.odd;
            }
            found[0].lo = even[0].even;
            found[0].hi = even[1].even;
            found[1].lo = odd[0].even;
            found[1].hi = odd[1].even;
            found[2].lo = even[0].odd;
            found[2].hi = even[1].odd;
            found[3].lo = odd[0].odd;
            found[3].hi = odd[1].odd;
#else
            const vector one = from[0];
            const vector two = from[1];
            found[0].lo = one.even;
            found[0].hi = two.even;
            found[1].lo = one.odd;
            found[1].hi = two.odd;
#endif
#pragma unroll
            for (int q = shift; q < min(shift + OUT, PATCH); ++q) {
              *(__local vector*)(to + q * (CHUNK + SPARE) + x) = found[q - shift];
            }
          }
        }
      }
      done += count;
    }

    // 3. Rows.
    for (int x = 0; x < tiles; x += LANES) {
      for (int i = 0; i < PATCH; ++i) {
        __local const float* from = dealt + i * PATCH * (CHUNK + SPARE) + x;
        vector d[PATCH];
        vector v[PATCH];
#pragma unroll
        for (int q = 0; q < PATCH; ++q) d[q] = *(__local const vector*)(from + q * (CHUNK + SPARE));
        transform_input(d, v);
        if (x + LANES <= tiles) {
#pragma unroll
          for (int j = 0; j < PATCH; ++j) STORE_VECTOR_dst(PATCH * i + j, c, t0 + x, v[j]);
        } else {
#pragma unroll
          for (int j = 0; j < PATCH; ++j) {
            float some[LANES];
            *(vector*)some = v[j];
            for (int l = 0; x + l < tiles; ++l) STORE_dst(PATCH * i + j, c, t0 + x + l, some[l]);
          }
        }
      }
    }
  }
}
#undef SPARE
