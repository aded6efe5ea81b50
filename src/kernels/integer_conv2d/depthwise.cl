// SPDX-License-Identifier: Apache-2.0
//
// integer_conv2d.depthwise: dst[n,c,oh,ow] = EPILOGUE(sum over kh, kw of
//     code[n, c, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[c,0,kh,kw]),
// where code is src within the image and border[c] outside of it, for CPUs.
//
//   src      NCHW{L}c    (((n*Q + c/L)*H + h)*W + w)*L + c%L,   Q = ceil(C / L)
//   weights  OIHW{L}o    ((c/L*KH + kh)*KW + kw)*L + c%L
//   border   C{L}c       c
//   dst      NOHW{L}o    (((n*Q + c/L)*OH + oh)*OW + ow)*L + c%L
//
//      src, row oh*SH + kh*DH - PT      [c c c c c c]          a vector is L channels of a pixel, widened to
//      weights of (kh, kw)              [w]                    32 bits: nothing is shifted and nothing reduced
//      dst, PIXELS neighbours of a row    [+ + + +]
//
// A work-item takes rows of dst, one after another. The pixels of a row whose windows do not leave the image sideways are
// computed PIXELS at a time, the last of them once more where the tile before had them; those at the edges one at a time.
//
// Tunables: LANES, the L above; PIXELS of a tile; GROUPS, work-items for each compute unit at most.
// Assumes: a work-group of one work-item.
#define WIDE(from, type) __builtin_convertvector(*(__global const type*)(from), lanes_of_ints)

__kernel ATTRIBUTES void integer_depthwise(ARGUMENTS) {
  typedef int lanes_of_ints __attribute__((ext_vector_type(LANES), aligned(4)));
  typedef TYPE_src lanes_of_src __attribute__((ext_vector_type(LANES), aligned(1)));
  typedef TYPE_weights lanes_of_weights __attribute__((ext_vector_type(LANES), aligned(1)));
  typedef TYPE_dst lanes_of_dst __attribute__((ext_vector_type(LANES), aligned(1)));
  int sums[PIXELS * LANES];
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
    const int o = at.block * LANES;
    __global const TYPE_src* plane = src + (at.n * blocks + at.block) * (H * W) * LANES;
    __global TYPE_dst* out = dst + r * OW * LANES;
    const lanes_of_ints outside = WIDE(border + o, lanes_of_src);
    lanes_of_ints filter[KH * KW];
#pragma unroll
    for (int k = 0; k < KH * KW; ++k) filter[k] = WIDE(weights + (at.block * (KH * KW) + k) * LANES, lanes_of_weights);
    for (int ow = 0; ow < OW;) {
      int count = 1;
      int first = ow;
      if ((ow >= inner_begin) & (ow < inner_end) & (inner_end - inner_begin >= PIXELS)) {
        first = min(ow, inner_end - PIXELS);
        count = PIXELS;
        lanes_of_ints sum[PIXELS];
#pragma unroll
        for (int p = 0; p < PIXELS; ++p) sum[p] = 0;
#pragma unroll
        for (int kh = 0; kh < KH; ++kh) {
          const int h = h0 + kh * DH;
          if ((h < 0) | (h >= H)) {
#pragma unroll
            for (int kw = 0; kw < KW; ++kw) {
#pragma unroll
              for (int p = 0; p < PIXELS; ++p) sum[p] += outside * filter[kh * KW + kw];
            }
            continue;
          }
          __global const TYPE_src* from = plane + (h * W + first * SW - PL) * LANES;
#pragma unroll
          for (int p = 0; p < PIXELS; ++p) {
#pragma unroll
            for (int kw = 0; kw < KW; ++kw) {
              sum[p] += WIDE(from + (p * SW + kw * DW) * LANES, lanes_of_src) * filter[kh * KW + kw];
            }
          }
        }
#pragma unroll
        for (int p = 0; p < PIXELS; ++p) *(lanes_of_ints*)(sums + p * LANES) = sum[p];
      } else {
        lanes_of_ints sum = 0;
#pragma unroll
        for (int kh = 0; kh < KH; ++kh) {
          const int h = h0 + kh * DH;
#pragma unroll
          for (int kw = 0; kw < KW; ++kw) {
            const int w = ow * SW + kw * DW - PL;
            const int inside = (h >= 0) & (h < H) & (w >= 0) & (w < W);
            __global const TYPE_src* from = inside ? plane + (h * W + w) * LANES : border + o;
            sum += WIDE(from, lanes_of_src) * filter[kh * KW + kw];
          }
        }
        *(lanes_of_ints*)sums = sum;
      }

      // The text of the epilogue stands in one loop: it may be long, and PoCL compiles every copy.
      for (int p = ow - first; p < count; ++p) {
        const lanes_of_ints found = *(const lanes_of_ints*)(sums + p * LANES);
        const lanes_of_dst result = o + LANES <= C ? EPILOGUE_VECTOR(found, at.n, o, at.oh, first + p)
                                                   : EPILOGUE_EDGE(found, at.n, o, at.oh, first + p);
        *(__global lanes_of_dst*)(out + (first + p) * LANES) = result;
      }
      ow = first + count;
    }
  }
}
#undef WIDE
