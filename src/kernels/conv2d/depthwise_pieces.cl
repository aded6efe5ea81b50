// SPDX-License-Identifier: Apache-2.0
//
// conv2d.depthwise_pieces: dst[n,c,oh,ow] = EPILOGUE(sum over kh, kw of
//     src[n, c, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[c,0,kh,kw]), for channels that lie side by side
//
//   src      NHWC8c   ((n*H + h)*W + w)*O_pad + c
//   weights  IHWO8o   (kh*KW + kw)*O_pad + c
//   dst      NHWO8o   ((n*OH + oh)*OW + ow)*O_pad + c
//
//              c ->
//        ow [ 8 8 8 ]    one work-item: 8 channels of PIXELS pixels of a row of dst, read and stored as vectors;
//         | [ 8 8 8 ]    work-items are numbered as they lie in dst and spread over two dimensions of 32,768 at most
//         v
//
// Tunables: PIXELS; LOCAL, work-items of a work-group.
// Assumes: pieces of src and of dst are countable in 31 bits.
__kernel ATTRIBUTES void depthwise_pieces(ARGUMENTS) {
  const int of_pixel = O_pad / 8;
  const int runs = (OW + PIXELS - 1) / PIXELS;
  const int e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= N * OH * runs * of_pixel) return;
  const int c = e % of_pixel;
  const int ow = e / of_pixel % runs * PIXELS;
  const int oh = e / of_pixel / runs % OH;
  const int n = e / of_pixel / runs / OH;

  float8 sum[PIXELS];
#pragma unroll
  for (int p = 0; p < PIXELS; ++p) sum[p] = 0.0f;
  // Beyond the image the nearest pixel is read and not added: a branch would keep reads apart.
#pragma unroll
  for (int kh = 0; kh < KH; ++kh) {
    const int h = oh * SH + kh * DH - PT;
    const int near_h = clamp(h, 0, H - 1);
#pragma unroll
    for (int kw = 0; kw < KW; ++kw) {
      const float8 filter = EIGHT_AT(MEMORY_weights, weights, (kh * KW + kw) * of_pixel + c);
#pragma unroll
      for (int p = 0; p < PIXELS; ++p) {
        const int w = (ow + p) * SW + kw * DW - PL;
        const int near_w = clamp(w, 0, W - 1);
        const float8 value = EIGHT_AT(MEMORY_src, src, ((n * H + near_h) * W + near_w) * of_pixel + c);
        const float8 more = sum[p] + filter * value;
        sum[p] = h == near_h && w == near_w ? more : sum[p];
      }
    }
  }
#pragma unroll
  for (int p = 0; p < PIXELS; ++p) {
    if (ow + p >= OW) break;
    for (int t = 0; t < 8; ++t) {
      const float finished = EPILOGUE(sum[p].s0, n, min(8 * c + t, O - 1), oh, ow + p);
      sum[p].s0 = 8 * c + t < O ? finished : 0.0f;
      sum[p] = sum[p].s12345670;
    }
    PUT_EIGHT(MEMORY_dst, dst, ((n * OH + oh) * OW + ow + p) * of_pixel + c, sum[p]);
  }
}
