// SPDX-License-Identifier: Apache-2.0
//
// max_pool2d.blocks: dst[n,c,oh,ow] = EPILOGUE(largest src[n, c, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL]
// of those (kh, kw) that fall inside the image), for CPUs
//
//   src  NCHW{L}c   (((n*Q + c/L)*H + h)*W + w)*L + c%L,   Q = ceil(C / L)
//   dst  NCHW{L}c   (((n*Q + c/L)*OH + oh)*OW + ow)*L + c%L; zero from C on
//
// A vector is L channels of a pixel, so the largest of a window is the largest of KH*KW vectors:
// nothing is shifted. A work-item takes rows of dst, one after another.
//
// A NaN in the window stays, as ONNX's reference has it: fmax() would drop it.
//
// Tunables: LANES, the L above: floats of a vector; GROUPS, work-items for each compute unit at most.
__kernel ATTRIBUTES void max_blocks(ARGUMENTS) {
  const int blocks = (C + LANES - 1) / LANES;
  const int rows = N * blocks * OH;
  const int last = share(rows, get_global_id(0) + 1, get_global_size(0));
  for (int r = share(rows, get_global_id(0), get_global_size(0)); r < last; ++r) {
    const block_row at = row_of(r, blocks, OH);
    const int h0 = at.oh * SH - PT;
    __global const MEMORY_src* plane = src + (at.n * blocks + at.block) * (H * W) * LANES;
    __global MEMORY_dst* out = dst + r * OW * LANES;
    for (int ow = 0; ow < OW; ++ow) {
      const int w0 = ow * SW - PL;
      const int is_inside = (w0 >= 0) & (w0 + (KW - 1) * DW < W);
      vector most = -INFINITY;
#pragma unroll
      for (int kh = 0; kh < KH; ++kh) {
        const int h = h0 + kh * DH;
        if ((h < 0) | (h >= H)) continue;
        __global const MEMORY_src* from = plane + (h * W + w0) * LANES;
#pragma unroll
        for (int kw = 0; kw < KW; ++kw) {
          const int w = w0 + kw * DW;
          if (!is_inside && ((w < 0) | (w >= W))) continue;
          const vector value = vector_at(from + kw * DW * LANES);
          most = value > most || value != value ? value : most;
        }
      }
      const int c = at.block * LANES;
      put_vector(out + ow * LANES,
                 FINISHED_LANES(c, C, EPILOGUE_VECTOR(most, at.n, c, at.oh, ow),
                                EPILOGUE_EDGE(most, at.n, c, at.oh, ow)));
    }
  }
}
