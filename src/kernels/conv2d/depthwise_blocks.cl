// SPDX-License-Identifier: Apache-2.0
//
// conv2d.depthwise_blocks: dst[n,c,oh,ow] = EPILOGUE(sum over kh, kw of
//     src[n, c, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[c,0,kh,kw]), for CPUs
//
//   src      NCHW{L}c    (((n*Q + c/L)*H + h)*W + w)*L + c%L,   Q = ceil(C / L)
//   weights  OIHW{L}o    ((c/L*KH + kh)*KW + kw)*L + c%L
//   dst      NOHW{L}o    (((n*Q + c/L)*OH + oh)*OW + ow)*L + c%L; zero from C on
//
//      src, row oh*SH + kh*DH - PT      [c c c c c c]          a vector is L channels of a pixel: nothing
//      weights of (kh, kw)              [w]                    is shifted and nothing reduced
//      dst, PIXELS neighbours of a row    [+ + + +]
//
// A work-item takes rows of dst, one after another. The pixels of a row whose windows do not leave the
// image sideways are computed PIXELS at a time, so that a vector of src serves up to KW of them, the
// last of them once more where the tile before had them; those at the edges one at a time.
//
// Strides, dilation and padding are arguments, so that layers of one filter size share a kernel. Where
// pixels are neighbours in src too, tiles have a text of their own: there the compiler sees which of them
// read the same vector, and loads it once.
//
// Tunables: LANES, the L above: floats of a vector; PIXELS of a tile; GROUPS, work-items for each compute unit at most.
// Assumes: a work-group of one work-item.
// `a * b + c` is left to the compiler to contract into one operation: PoCL's mad() is two.

// sum[p] += the windows of PIXELS neighbours, `step` columns of src apart, with `gap` columns between
// the columns of a window.
#define ADD_WINDOWS(step, gap)                                                       \
  _Pragma("unroll") for (int kh = 0; kh < KH; ++kh) {                                \
    const int h = h0 + kh * DH;                                                      \
    if ((h < 0) | (h >= H)) continue;                                                \
    __global const MEMORY_src* from = plane + (h * W + first * (step) - PL) * LANES; \
    _Pragma("unroll") for (int p = 0; p < PIXELS; ++p) {                             \
      _Pragma("unroll") for (int kw = 0; kw < KW; ++kw) {                            \
        sum[p] += vector_at(from + (p * (step) + kw * (gap)) * LANES) *              \
                  filter[kh * KW + kw];                                              \
      }                                                                              \
    }                                                                                \
  }

__kernel ATTRIBUTES void depthwise_blocks(ARGUMENTS) {
  __local float sums[PIXELS * LANES];
  const int blocks = (C + LANES - 1) / LANES;
  // Windows of these columns lie within the image.
  const int inner_begin = min((PL + SW - 1) / SW, OW);
  const int reach = W - 1 - (KW - 1) * DW + PL;
  const int inner_end = clamp(reach < 0 ? 0 : reach / SW + 1, inner_begin, OW);
  const int rows = N * blocks * OH;
  const int last = share(rows, get_global_id(0) + 1, get_global_size(0));
  for (int r = share(rows, get_global_id(0), get_global_size(0)); r < last; ++r) {
    const block_row at = row_of(r, blocks, OH);
    const int h0 = at.oh * SH - PT;
    __global const MEMORY_src* plane = src + (at.n * blocks + at.block) * (H * W) * LANES;
    __global MEMORY_dst* out = dst + r * OW * LANES;
    vector filter[KH * KW];
#pragma unroll
    for (int k = 0; k < KH * KW; ++k) {
      filter[k] = vector_at(weights + (at.block * (KH * KW) + k) * LANES);
    }
    for (int ow = 0; ow < OW;) {
      int count = 1;
      int first = ow;
      if ((ow >= inner_begin) & (ow < inner_end) & (inner_end - inner_begin >= PIXELS)) {
        first = min(ow, inner_end - PIXELS);
        count = PIXELS;
        vector sum[PIXELS];
#pragma unroll
        for (int p = 0; p < PIXELS; ++p) sum[p] = 0.0f;
        if ((SW == 1) & (DW == 1)) {
          ADD_WINDOWS(1, 1)
        } else {
          ADD_WINDOWS(SW, DW)
        }
#pragma unroll
        for (int p = 0; p < PIXELS; ++p) *(__local vector*)(sums + p * LANES) = sum[p];
      } else {
        vector sum = 0.0f;
#pragma unroll
        for (int kh = 0; kh < KH; ++kh) {
          const int h = h0 + kh * DH;
          if ((h < 0) | (h >= H)) continue;
#pragma unroll
          for (int kw = 0; kw < KW; ++kw) {
            const int w = ow * SW + kw * DW - PL;
            if ((w < 0) | (w >= W)) continue;
            sum += vector_at(plane + (h * W + w) * LANES) * filter[kh * KW + kw];
          }
        }
        *(__local vector*)sums = sum;
      }

      // The text of the epilogue stands in one loop: it may be long, and PoCL compiles every copy.
      const int o = at.block * LANES;
      for (int p = ow - first; p < count; ++p) {
        const vector found = *(__local const vector*)(sums + p * LANES);
        put_vector(out + (first + p) * LANES,
                   FINISHED_LANES(o, C, EPILOGUE_VECTOR(found, at.n, o, at.oh, first + p),
                                  EPILOGUE_EDGE(found, at.n, o, at.oh, first + p)));
      }
      ow = first + count;
    }
  }
}
