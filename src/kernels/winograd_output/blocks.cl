// SPDX-License-Identifier: Apache-2.0
//
// winograd_output.blocks: the OUT x OUT results A' m A of tile t and channel o, of its P x P products
// m = src[:,o,t], P = OUT + 2, OUT = 2 or 4, into dst[n,o,oh,ow] = EPILOGUE(result), for CPUs.
//
//   src  XOT{L}o    ((x*R + o/L)*T + t)*L + o%L,   R = ceil(O / L)
//   dst  NOHW{L}o   (((n*R + o/L)*OH + oh)*OW + ow)*L + o%L; zero from O on
//
//   A vector is L channels, so each channel's results are computed in a lane of its own:
//
//      P*P vectors, each of its x     A' m          (A' m) A
//        [L ][L ][L ][L ]..            |               --
//        [L ][L ][L ][L ]..            |   then        --       OUT x OUT pixels of dst; what hangs over
//          :   :   :                   v               -->      the image is left out
//
// A work-item takes tiles of a block of channels, one after another.
//
// The matrices stand in shared/winograd_output.clh.
//
// Tunables: LANES, the L above: floats of a vector; GROUPS, work-items for each compute unit at most.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory; memory of
// src and dst covers O rounded up to L, whatever src holds there.
__kernel ATTRIBUTES void winograd_output_blocks(ARGUMENTS) {
  __local float results[OUT * OUT * LANES];
  const int blocks = (O + LANES - 1) / LANES;
  const int units = blocks * T;
  const int last = share(units, get_global_id(0) + 1, get_global_size(0));
  for (int unit = share(units, get_global_id(0), get_global_size(0)); unit < last; ++unit) {
    const int block = unit / T;
    const int t = unit % T;
    __global const MEMORY_src* from = src + (block * T + t) * LANES;
    vector columns[OUT][PATCH];  // A' m, row by row
#pragma unroll
    for (int q = 0; q < PATCH; ++q) {
      vector m[PATCH];
      vector y[OUT];
#pragma unroll
      for (int p = 0; p < PATCH; ++p) {
        m[p] = vector_at(from + (PATCH * p + q) * units * LANES);
      }
      transform_output(m, y);
#pragma unroll
      for (int p = 0; p < OUT; ++p) columns[p][q] = y[p];
    }
#pragma unroll
    for (int p = 0; p < OUT; ++p) {
      vector y[OUT];
      transform_output(columns[p], y);
#pragma unroll
      for (int q = 0; q < OUT; ++q) *(__local vector*)(results + (p * OUT + q) * LANES) = y[q];
    }

    // The text of the epilogue stands in one loop: it may be long, and PoCL compiles every copy.
    const int tile = T0 + t;
    const int n = tile / (TW * TH);
    const int oh0 = tile / TW % TH * OUT;
    const int ow0 = tile % TW * OUT;
    const int right = min(OW - ow0, OUT);
    for (int p = 0; p < min(OH - oh0, OUT); ++p) {
      const int oh = oh0 + p;
      __global MEMORY_dst* out = dst + (((n * blocks + block) * OH + oh) * OW + ow0) * LANES;
      for (int q = 0; q < right; ++q) {
        const vector found = *(__local const vector*)(results + (p * OUT + q) * LANES);
        const int o = block * LANES;
        put_vector(out + q * LANES,
                   FINISHED_LANES(o, O, EPILOGUE_VECTOR(found, n, o, oh, ow0 + q),
                                  EPILOGUE_EDGE(found, n, o, oh, ow0 + q)));
      }
    }
  }
}
