// SPDX-License-Identifier: Apache-2.0
//
// conv2d.row_vectors_8, _4 and _1: dst[n,o,oh,ow] = EPILOGUE(sum over i, kh, kw of
//     src[n, o/(O/G)*I + i, oh*SH + kh*DH - PT, ow + kw*DW - PL] * weights[o,i,kh,kw]), SW = 1, for CPUs
//
//   src      NCHW      ((n*C + c)*H + h)*W + w,  c = o/(O/G)*I + i
//   weights  IHWO      ((i*KH + kh)*KW + kw)*O + o
//   dst      NOHW      ((n*O + o)*OH + oh)*OW + ow
//
// For fewer filters than a vector has lanes, where kernels of blocks of channels compute zeros. Lanes are
// neighbours of a row of dst:
//
//      strip: a stretch of        [. . . . . . . . . . . . . . . .]       zeros where the image ends
//      row h of src                 [L ][L ][L ]                          VECTORS vectors, kw*DW further each time
//                                     |   |   |
//      weights of i, kh, kw           v   v   v
//      o0          x    -->         [L ][L ][L ]
//      .           x    -->         [L ][L ][L ]                          FILTERS * VECTORS accumulators
//      o0+FILTERS  x    -->         [L ][L ][L ]
//
// A tile is FILTERS outputs of LANES*VECTORS neighbours. As many strips as fit, one for each i and kh, are copied to
// local memory. Then all of them are multiplied: what was just stored is not read at once, at other addresses.
//
// Tunables: LANES, floats of a vector; FILTERS, VECTORS of a tile; STRIPS, elements of all strips; GROUPS, work-items
// for each compute unit at most.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory.
// `a * b + c` is left to the compiler to contract into one operation: PoCL's mad() is two.
#define TILE (LANES * VECTORS)
// Elements of a strip, whole vectors, and how many strips there are.
#define STRIP (TILE + ((KW - 1) * DW + LANES - 1) / LANES * LANES)
#define HELD (STRIPS / STRIP)
#if HELD < 1
#error "conv2d.row_vectors: STRIPS must hold what a tile reads of a row"
#endif

__kernel ATTRIBUTES void row_vectors(ARGUMENTS) {
  __local float strips[STRIPS];
  __local float sums[FILTERS * TILE];
  const int across = (OW + TILE - 1) / TILE;
  const int blocks = (O + FILTERS - 1) / FILTERS;
  const int rows = I * KH;
  const int tiles = N * OH * across * blocks;
  const int last = share(tiles, get_global_id(0) + 1, get_global_size(0));
  for (int tile = share(tiles, get_global_id(0), get_global_size(0)); tile < last; ++tile) {
    const int o0 = tile % blocks * FILTERS;
    const int ow0 = tile / blocks % across * TILE;
    const int oh = tile / blocks / across % OH;
    const int n = tile / blocks / across / OH;
    const int w0 = ow0 - PL;
    const int first_plane = n * C + o0 / (O / G) * I;
    // Outputs beyond the last one are computed as that and not stored.
    int filter[FILTERS];
#pragma unroll
    for (int f = 0; f < FILTERS; ++f) filter[f] = min(o0 + f, O - 1);

    vector sum[FILTERS][VECTORS];
#pragma unroll
    for (int f = 0; f < FILTERS; ++f) {
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) sum[f][v] = 0.0f;
    }
    for (int row0 = 0; row0 < rows; row0 += HELD) {
      const int held = min(rows - row0, HELD);
      for (int r = 0; r < held; ++r) {
        __local float* strip = strips + r * STRIP;
        const int h = oh * SH - PT + (row0 + r) % KH * DH;
        const int from = ((first_plane + (row0 + r) / KH) * H + h) * W + w0;
        const int is_row = (h >= 0) & (h < H);
        const int begin = is_row ? clamp(-w0, 0, STRIP) : STRIP;
        const int end = is_row ? clamp(W - w0, begin, STRIP) : STRIP;
        // Whole vectors may take numbers of the next row, which the loop after them puts right; beyond src they
        // must not.
        const int fit = min(STRIP, N * C * H * W - from) - begin;
        const int vectors = clamp(fit / LANES, 0, (end - begin + LANES - 1) / LANES);
        for (int x = 0; x < begin; ++x) strip[x] = 0.0f;
        for (int v = 0; v < vectors; ++v) {
          const int x = begin + v * LANES;
          *(__local vector*)(strip + x) = vector_at(src + from + x);
        }
        for (int x = begin + vectors * LANES; x < end; ++x) strip[x] = number_at(src + from + x);
        for (int x = end; x < STRIP; ++x) strip[x] = 0.0f;
      }
      for (int r = 0; r < held; ++r) {
        __local const float* strip = strips + r * STRIP;
        __global const MEMORY_weights* row_weights = weights + (row0 + r) * KW * O;
        for (int kw = 0; kw < KW; ++kw) {
          vector image[VECTORS];
#pragma unroll
          for (int v = 0; v < VECTORS; ++v) {
            image[v] = *(__local const vector*)(strip + kw * DW + v * LANES);
          }
#pragma unroll
          for (int f = 0; f < FILTERS; ++f) {
            const float weight = number_at(row_weights + kw * O + filter[f]);
#pragma unroll
            for (int v = 0; v < VECTORS; ++v) sum[f][v] += weight * image[v];
          }
        }
      }
    }
#pragma unroll
    for (int f = 0; f < FILTERS; ++f) {
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) {
        *(__local vector*)(sums + (f * VECTORS + v) * LANES) = sum[f][v];
      }
    }

    // The text of the epilogue stands in one loop: it may be long, and PoCL compiles every copy.
    for (int f = 0; f < min(O - o0, FILTERS); ++f) {
      const int o = o0 + f;
      __global MEMORY_dst* out = dst + ((n * O + o) * OH + oh) * OW;
      for (int ow = ow0; ow < min(OW, ow0 + TILE); ow += LANES) {
        __local float* found = sums + f * TILE + ow - ow0;
        const vector v = *(__local const vector*)found;
        if (ow + LANES <= OW) {
          put_vector(out + ow, EPILOGUE_VECTOR(v, n, o, oh, ow));
        } else {
          *(__local vector*)found = EPILOGUE_EDGE(v, n, o, oh, ow);
          for (int l = 0; l < OW - ow; ++l) put_number(out + ow + l, found[l]);
        }
      }
    }
  }
}
#undef TILE
#undef STRIP
#undef HELD
