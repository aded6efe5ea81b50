// SPDX-License-Identifier: Apache-2.0
//
// winograd_output.planes: the OUT x OUT results A' m A of tile t and channel o, of its P x P products
// m = src[:,o,t], P = OUT + 2, OUT = 2 or 4, into dst[n,o,oh,ow] = EPILOGUE(result), for CPUs.
//
//   src(x, o, t)  through accessors, sixteen tiles at once
//   dst           NOHW   ((n*O + o)*OH + oh)*OW + ow
//
//   A work-group is one work-item, which takes CHUNK tiles of a channel at a time:
//
//     1. A' m A of sixteen tiles at once         r[0] = a e i ...   a number for each tile
//     2. woven into rows of the image            r[1] = b f j ...
//        (OUT = 4)                               ->  [a b c d e f g h i j ...
//     3. through EPILOGUE into dst, row of tiles by row; what hangs over the image is left out
//
//             1  1  1  0                1  1  1  1  1  0
//     A' =    0  1 -1 -1   or for       0  1 -1  2 -2  0
//                          OUT = 4      0  1  1  4  4  0
//                                       0  1 -1  8 -8  1
//
// Tunables: CHUNK, tiles of a unit, a multiple of 16; GROUPS, work-items at most.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory.
// Source: A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2015.
#define PATCH (OUT + 2)
#if OUT == 4
#define TRANSFORM(m, y)                                         \
  do {                                                          \
    const SIXTEEN sum = (m)[1] + (m)[2];                        \
    const SIXTEEN difference = (m)[1] - (m)[2];                 \
    const SIXTEEN other_sum = (m)[3] + (m)[4];                  \
    const SIXTEEN other_difference = (m)[3] - (m)[4];           \
    (y)[0] = (m)[0] + sum + other_sum;                          \
    (y)[1] = difference + 2.0f * other_difference;              \
    (y)[2] = sum + 4.0f * other_sum;                            \
    (y)[3] = difference + 8.0f * other_difference + (m)[5];     \
  } while (0)
#elif OUT == 2
#define TRANSFORM(m, y)                   \
  do {                                    \
    (y)[0] = (m)[0] + (m)[1] + (m)[2];    \
    (y)[1] = (m)[1] - (m)[2] - (m)[3];    \
  } while (0)
#else
#error "winograd_output.planes: OUT must be 2 or 4"
#endif

__kernel ATTRIBUTES void winograd_output_planes(ARGUMENTS) {
  __local float woven[OUT * OUT * CHUNK];
  const int wide = OUT * CHUNK;
  const int chunks = (T + CHUNK - 1) / CHUNK;
  const int units = O * chunks;
  const int items = get_global_size(0);
  const int last = (int)((long)units * (get_global_id(0) + 1) / items);
  for (int unit = (int)((long)units * get_global_id(0) / items); unit < last; ++unit) {
    const int o = unit / chunks;
    const int t0 = unit % chunks * CHUNK;
    const int tiles = min(CHUNK, T - t0);
    for (int x = 0; x < tiles; x += 16) {
      SIXTEEN half_done[PATCH][OUT];  // [column of m][row of A' m]
#pragma unroll
      for (int q = 0; q < PATCH; ++q) {
        SIXTEEN m[PATCH];
#pragma unroll
        for (int p = 0; p < PATCH; ++p) {
          if (x + 16 <= tiles) {
            m[p] = LOAD16_src(PATCH * p + q, o, t0 + x);
          } else {
            float some[16];
            for (int l = 0; l < 16; ++l) {
              some[l] = x + l < tiles ? LOAD_src(PATCH * p + q, o, t0 + x + l) : 0.0f;
            }
            m[p] = *(const SIXTEEN*)some;
          }
        }
        TRANSFORM(m, half_done[q]);
      }
#pragma unroll
      for (int y = 0; y < OUT; ++y) {
        SIXTEEN m[PATCH];
        SIXTEEN r[OUT];
#pragma unroll
        for (int q = 0; q < PATCH; ++q) m[q] = half_done[q][y];
        TRANSFORM(m, r);
        __local SIXTEEN* to = (__local SIXTEEN*)(woven + y * wide + OUT * x);
        SIXTEEN row[OUT];
#if OUT == 4
        SIXTEEN even[2];
        SIXTEEN odd[2];
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
        __global float* out = dst + ((n * O + o) * OH + oh0 + y) * OW + ow0;
        __local const float* results = woven + y * wide + OUT * done;
        for (int z = 0; z < width; ++z) {
          out[z] = EPILOGUE(results[z], n, o, oh0 + y, ow0 + z);
        }
      }
      done += count;
    }
  }
}
#undef PATCH
#undef TRANSFORM
