// SPDX-License-Identifier: Apache-2.0
//
// max_pool2d_gradient.blocks: as rows, in blocks of channels, for CPUs.
//
//   src, dst  NCHW{L}c   (((n*Q + c/L)*H + h)*W + w)*L + c%L,   Q = ceil(C / L)
//   above     NCHW{L}c   (((n*Q + c/L)*OH + oh)*OW + ow)*L + c%L
//
//        src[n, block]  w ->      one work-item: rows of windows, and of each the KH rows of dst under
//        [X X][X X][X X] .        it; columns and rows behind the last windows become 0
//        [X X][X X][X X] .        X: a vector of L channels
//         .  .  .  .  .  .
//
// The first NaN counts as the largest, as in max_pool2d. dst is zero from C on.
// Tunables: LANES, the L above: floats of a vector; GROUPS, work-items for each compute unit, which share the rows.
// Assumes: elements of dst are countable in 31 bits.
__kernel ATTRIBUTES void max_gradient_blocks(ARGUMENTS) {
  typedef int vector_ints __attribute__((ext_vector_type(LANES), aligned(4)));
  const int blocks = (C + LANES - 1) / LANES;
  const int rows = N * blocks * OH;
  for (int r = (int)get_global_id(0); r < rows; r += (int)get_global_size(0)) {
    const int oh = r % OH;
    const int plane = r / OH;
    const int n = plane / blocks;
    // The mask takes nothing away; it tells the compiler that c is a multiple of LANES and not negative.
    const int c = plane % blocks * LANES & (0x1000000 - LANES);
    const int top = oh * KH;
    __global const float* from = src + (plane * H + top) * W * LANES;
    __global float* to = dst + (plane * H + top) * W * LANES;
    for (int ow = 0; ow < OW; ++ow) {
      vector largest = *(__global const vector*)(from + ow * KW * LANES);
      // Numbered from 1 on: a choice between 1 and 0 would become a widened truth value, of which Oclgrind 21.10
      // makes 255 in vectors.
      vector_ints place = 1;
#pragma unroll
      for (int k = 1; k < KH * KW; ++k) {
        const vector value = *(__global const vector*)(from + (k / KW * W + ow * KW + k % KW) * LANES);
        const vector_ints is_larger = (value > largest) | ((value != value) & (largest == largest));
        largest = is_larger ? value : largest;
        place = is_larger ? (vector_ints)(k + 1) : place;
      }
      const vector whole = *(__global const vector*)(above + (r * OW + ow) * LANES);
#pragma unroll
      for (int k = 0; k < KH * KW; ++k) {
        const vector own = place == (vector_ints)(k + 1) ? whole : (vector)0.0f;
        const int h = top + k / KW;
        const int w = ow * KW + k % KW;
        vector result = 0.0f;
        if (c + LANES <= C) {
#pragma unroll
          for (int l = 0; l < LANES; ++l) result[l] = EPILOGUE(own[l], n, c + l, h, w);
        } else {
          float found[LANES];
          *(vector*)found = own;
          for (int l = 0; l < LANES; ++l) found[l] = c + l < C ? EPILOGUE(found[l], n, c + l, h, w) : 0.0f;
          result = *(const vector*)found;
        }
        *(__global vector*)(to + (k / KW * W + w) * LANES) = result;
      }
    }
    const int end = oh == OH - 1 ? H - top : KH;
    for (int row = 0; row < end; ++row) {
      for (int w = row < KH ? OW * KW : 0; w < W; ++w) {
        for (int l = 0; l < LANES; ++l) {
          to[(row * W + w) * LANES + l] =
              c + l < C ? EPILOGUE(0.0f, n, c + l, top + row, w) : 0.0f;
        }
      }
    }
  }
}
