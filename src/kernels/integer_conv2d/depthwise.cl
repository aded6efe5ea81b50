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
// A lane of a vector is a channel. Processors multiply four bytes and four, or two and two, and add the products to a sum
// in one instruction. So a lane takes that many rows of a column of the window:
//
//      src, row 0   [c c c c c c]       column of rows 0, 1, 2    [c|c|c|.]
//           row 1   [c c c c c c]  -->  weights of the column     [w|w|w|0]
//           row 2   [c c c c c c]       dst, a pixel              [   +   ]
//
// Neighbours of a row share columns, each of which is made once for all of them.
//
// A work-item takes rows of dst, one after another. A row that a window has outside of the image is the border, without
// steps along it; a column outside is the border too.
//
// Tunables: LANES, the L above; PIXELS whose sums are found at a time; BYTE_PRODUCTS (see byte_dots.clh); GROUPS,
// work-items for each compute unit at most.
// Assumes: a work-group of one work-item.
__kernel ATTRIBUTES void integer_depthwise(ARGUMENTS) {
  typedef TYPE_dst lanes_of_dst __attribute__((ext_vector_type(LANES), aligned(1)));
  int sums[PIXELS * LANES];
  uint filter[KW * DEPTH * LANES];
  int start[LANES];
  const int blocks = (C + LANES - 1) / LANES;
  const int rows = N * blocks * OH;
  const int last = share(rows, get_global_id(0) + 1, get_global_size(0));
  int block = -1;
  for (int r = share(rows, get_global_id(0), get_global_size(0)); r < last; ++r) {
    const block_row at = row_of(r, blocks, OH);
    const int o = at.block * LANES;
    if (at.block != block) find_filter(weights + at.block * (KH * KW * LANES), filter, start);
    block = at.block;
    __global const TYPE_src* plane = src + (at.n * blocks + at.block) * (H * W) * LANES;
    window_rows from;
#pragma unroll
    for (int kh = 0; kh < KH; ++kh) {
      const int h = at.oh * SH - PT + kh * DH;
      const int inside = (uint)h < (uint)H;
      from.row[kh] = inside ? plane + h * W * LANES : border + o;
      from.steps[kh] = -(long)inside;
    }
    for (int ow = 0; ow < OW; ow += PIXELS) {
      const int count = min(OW - ow, PIXELS);
      find_row_sums(&from, border + o, ow * SW - PL, W, count, filter, start, sums);
      __global TYPE_dst* out = dst + (r * OW + ow) * LANES;
      // The text of the epilogue stands once for whole blocks and once for the last: it may be long.
      if (o + LANES <= C) {
        for (int p = 0; p < count; ++p) {
          const lanes_of_ints found = *(const lanes_of_ints*)(sums + p * LANES);
          *(__global lanes_of_dst*)(out + p * LANES) = EPILOGUE_VECTOR(found, at.n, o, at.oh, ow + p);
        }
      } else {
        for (int p = 0; p < count; ++p) {
          const lanes_of_ints found = *(const lanes_of_ints*)(sums + p * LANES);
          *(__global lanes_of_dst*)(out + p * LANES) = EPILOGUE_EDGE(found, at.n, o, at.oh, ow + p);
        }
      }
    }
  }
}
