// SPDX-License-Identifier: Apache-2.0
//
// winograd_input.blocks: dst[x,c,t] = (B' d B)[x / P, x % P] of the PxP patch d of channel c that tile t
// needs, P = OUT + 2, OUT = 2 or 4, for CPUs.
//
//   src  NCHW{L}c   (((n*Q + c/L)*H + h)*W + w)*L + c%L,   Q = ceil(C / L)
//   dst  XCT{L}c    ((x*Q + c/L)*T + t)*L + c%L
//
//   A vector is L channels of a pixel, so each channel's patch is transformed in a lane of its own:
//
//      patch of P x P vectors        B' d          (B' d) B
//        [L ][L ][L ][L ]..           |               --
//        [L ][L ][L ][L ]..           |   then        --         P*P vectors, each to its own x
//          :   :   :                  v               -->
//
// Where a patch hangs over the image, its vectors are zero. A work-item takes rows of tiles of a block of
// channels, one after another.
//
// The matrices stand in shared/winograd_input.clh.
//
// Tunables: LANES, the L above: floats of a vector; GROUPS, work-items for each compute unit at most.
// Assumes: memory of src and dst covers C rounded up to L, whatever src holds there.
__kernel ATTRIBUTES void winograd_input_blocks(ARGUMENTS) {
  const int blocks = (C + LANES - 1) / LANES;
  const int units = blocks * T;
  const int last = share(units, get_global_id(0) + 1, get_global_size(0));
  for (int unit = share(units, get_global_id(0), get_global_size(0)); unit < last; ++unit) {
    const int block = unit / T;
    const int t = unit % T;
    const int tile = T0 + t;
    const int h0 = tile / TW % TH * OUT - PT;
    const int w0 = tile % TW * OUT - PL;
    const int plane = tile / (TW * TH) * blocks + block;
    __global const MEMORY_src* from = src + ((plane * H + h0) * W + w0) * LANES;
    const int is_inside = (h0 >= 0) & (h0 + PATCH <= H) & (w0 >= 0) & (w0 + PATCH <= W);

    vector columns[PATCH][PATCH];  // B' d, row by row
#pragma unroll
    for (int q = 0; q < PATCH; ++q) {
      vector d[PATCH];
      vector v[PATCH];
      if (is_inside) {
#pragma unroll
        for (int p = 0; p < PATCH; ++p) d[p] = vector_at(from + (p * W + q) * LANES);
      } else {
        const int is_column = (w0 + q >= 0) & (w0 + q < W);
#pragma unroll
        for (int p = 0; p < PATCH; ++p) {
          d[p] = 0.0f;
          if (is_column & (h0 + p >= 0) & (h0 + p < H)) {
            d[p] = vector_at(from + (p * W + q) * LANES);
          }
        }
      }
      transform_input(d, v);
#pragma unroll
      for (int p = 0; p < PATCH; ++p) columns[p][q] = v[p];
    }
    __global MEMORY_dst* to = dst + (block * T + t) * LANES;
#pragma unroll
    for (int p = 0; p < PATCH; ++p) {
      vector v[PATCH];
      transform_input(columns[p], v);
#pragma unroll
      for (int q = 0; q < PATCH; ++q) {
        put_vector(to + (PATCH * p + q) * units * LANES, v[q]);
      }
    }
  }
}
