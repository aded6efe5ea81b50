// SPDX-License-Identifier: Apache-2.0
//
// average_pool2d.blocks: dst[n,c,oh,ow] = EPILOGUE(sum of src[n, c, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL]
// over those (kh, kw) that fall inside the image, divided by a count), for CPUs
//
//   src  NCHW{L}c   (((n*Q + c/L)*H + h)*W + w)*L + c%L,   Q = ceil(C / L)
//   dst  NCHW{L}c   (((n*Q + c/L)*OH + oh)*OW + ow)*L + c%L; zero from C on
//
// A vector is L channels of a pixel, so the sum of a window is KH*KW additions of vectors. A work-item takes
// rows of dst, one after another.
//
// The count is rows times columns of the window that lie inside the image (COUNT_PAD 0), or inside
// the image with its padding (COUNT_PAD 1); what hangs over even that never counts.
//
// Tunables: LANES, the L above: floats of a vector; GROUPS, work-items for each compute unit at most.
// Assumes: every window has something that counts.
__kernel ATTRIBUTES void average_blocks(ARGUMENTS) {
  const int blocks = (C + LANES - 1) / LANES;
  const int rows = N * blocks * OH;
  const int last = share(rows, get_global_id(0) + 1, get_global_size(0));
  for (int r = share(rows, get_global_id(0), get_global_size(0)); r < last; ++r) {
    const block_row at = row_of(r, blocks, OH);
    const int h0 = at.oh * SH - PT;
    const int down = counted(h0, KH, DH, COUNT_PAD ? -PT : 0, H + (COUNT_PAD ? PB : 0));
    __global const MEMORY_src* plane = src + (at.n * blocks + at.block) * (H * W) * LANES;
    __global MEMORY_dst* out = dst + r * OW * LANES;
    for (int ow = 0; ow < OW; ++ow) {
      const int w0 = ow * SW - PL;
      const int across = counted(w0, KW, DW, COUNT_PAD ? -PL : 0, W + (COUNT_PAD ? PR : 0));
      vector sum = 0.0f;
      for (int kh = 0; kh < KH; ++kh) {
        const int h = h0 + kh * DH;
        if ((h < 0) | (h >= H)) continue;
        for (int kw = 0; kw < KW; ++kw) {
          const int w = w0 + kw * DW;
          if ((w < 0) | (w >= W)) continue;
          sum += vector_at(plane + (h * W + w) * LANES);
        }
      }
      const vector mean = sum / (float)(down * across);
      const int c = at.block * LANES;
      put_vector(out + ow * LANES,
                 FINISHED_LANES(c, C, EPILOGUE_VECTOR(mean, at.n, c, at.oh, ow),
                                EPILOGUE_EDGE(mean, at.n, c, at.oh, ow)));
    }
  }
}
