// SPDX-License-Identifier: Apache-2.0
//
// winograd_output.planes: the OUT x OUT results A' m A of tile t and channel o, of its P x P products
// m = src[:,o,t], P = OUT + 2, OUT = 2 or 4, into dst[n,o,oh,ow] = EPILOGUE(result), for CPUs.
//
//   src(x, o, t)  through accessors, LANES tiles at once
//   dst           NOHW   ((n*O + o)*OH + oh)*OW + ow
//
//   A work-group is one work-item, which takes CHUNK tiles of a channel at a time:
//
//     1. A' m A of LANES tiles at once         r[0] = a e i ...   a number for each tile
//     2. woven into rows of the image            r[1] = b f j ...
//        (OUT = 4)                               ->  [a b c d e f g h i j ...
//     3. through EPILOGUE into dst, row of tiles by row; what hangs over the image is left out
//
// The matrices stand in shared/winograd_output.clh.
//
// Tunables: LANES, floats of a vector; CHUNK, tiles of a unit, a multiple of LANES; GROUPS, work-items for
// each compute unit at most.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory.
__kernel ATTRIBUTES void winograd_output_planes(ARGUMENTS) {
  __local float woven[OUT * OUT * CHUNK];
  const int wide = OUT * CHUNK;
  const int chunks = (T + CHUNK - 1) / CHUNK;
  const int units = O * chunks;
  const int last = share(units, get_global_id(0) + 1, get_global_size(0));
  for (int unit = share(units, get_global_id(0), get_global_size(0)); unit < last; ++unit) {
    const int o = unit / chunks;
    const int t0 = unit % chunks * CHUNK;
    const int tiles = min(CHUNK, T - t0);
    for (int x = 0; x < tiles; x += LANES) {
      vector half_done[PATCH][OUT];  // [column of m][row of A' m]
#pragma unroll
      for (int q = 0; q < PATCH; ++q) {
        vector m[PATCH];
#pragma unroll
        for (int p = 0; p < PATCH; ++p) {
          if (x + LANES <= tiles) {
            m[p] = LOAD_VECTOR_src(PATCH * p + q, o, t0 + x);
          } else {
            float some[LANES];
            for (int l = 0; l < LANES; ++l) {
              some[l] = x + l < tiles ? LOAD_src(PATCH * p + q, o, t0 + x + l) : 0.0f;
            }
            m[p] = *(const vector*)some;
          }
        }
        transform_output(m, half_done[q]);
      }
#pragma unroll
      for (int y = 0; y < OUT; ++y) {
        vector m[PATCH];
        vector r[OUT];
#pragma unroll
        for (int q = 0; q < PATCH; ++q) m[q] = half_done[q][y];
        transform_output(m, r);
        __local vector* to = (__local vector*)(woven + y * wide + OUT * x);
        vector row[OUT];
#if OUT == 4
        vector even[2];
        vector odd[2];
        even[0].even = r[0].lo;
        even[0].odd = r[2].lo;
        even[1].even = r[0].hi;
        even[1].odd = r[2].hi;
        odd[0].even = r[1].lo;
        odd[0].odd = r[3].lo;
        odd[1].even = r[1].hi;
        odd[1].odd = r[3].hi;
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          row[2 * e].even = even[e].lo;
          row[2 * e].odd = odd[e].lo;
          row[2 * e + 1].even = even[e].hi;
          row[2 * e + 1].odd = odd[e].hi;
        }
#else
        row[0].even = r[0].lo;
        row[0].odd = r[1].lo;
        row[1].even = r[0].hi;
        row[1].odd = r[1].hi;
#endif
#pragma unroll
        for (int e = 0; e < OUT; ++e) to[e] = row[e];
      }
    }
    for (int done = 0; done < tiles;) {
      // The tiles of one row that the unit has.
      const int tile = T0 + t0 + done;
      const int count = min(TW - tile % TW, tiles - done);
      const int n = tile / (TW * TH);
      const int oh0 = tile / TW % TH * OUT;
      const int ow0 = tile % TW * OUT;
      const int width = min(OUT * count, OW - ow0);
      for (int y = 0; y < min(OUT, OH - oh0); ++y) {
        __global MEMORY_dst* out = dst + ((n * O + o) * OH + oh0 + y) * OW + ow0;
        __local const float* results = woven + y * wide + OUT * done;
        for (int z = 0; z < width; ++z) {
          put_number(out + z, EPILOGUE(results[z], n, o, oh0 + y, ow0 + z));
        }
      }
      done += count;
    }
  }
}
