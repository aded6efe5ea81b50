// SPDX-License-Identifier: Apache-2.0
//
// max_pool2d.pieces: dst[n,c,oh,ow] = largest src[n, c, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] of those (kh, kw) that
// fall inside the image, for channels that lie side by side.
//
//   src  NHWC8c   ((n*H + h)*W + w)*C_pad + c
//   dst  NHWC8c   ((n*OH + oh)*OW + ow)*C_pad + c
//
//              c ->
//        ow [ 8 8 8 ]    one work-item: 8 channels of one pixel of dst, read and stored as vectors; work-items are
//         | [ 8 8 8 ]    numbered as they lie in dst and spread over two dimensions of 32,768 at most
//         v
//
// A NaN in the window stays, as ONNX's reference has it.
// Tunables: LOCAL, work-items of a work-group.
// Assumes: pieces of src and of dst are countable in 31 bits. A window that misses the image gives -infinity.
__kernel ATTRIBUTES void pieces(ARGUMENTS) {
  const int e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  const int of_pixel = C_pad / 8;
  if (e >= N * OH * OW * of_pixel) return;
  const int c = e % of_pixel;
  const int ow = e / of_pixel % OW;
  const int oh = e / of_pixel / OW % OH;
  const int n = e / of_pixel / OW / OH;

  // Beyond the image the nearest pixel is read and left out: a branch would keep reads apart.
  float8 largest = -INFINITY;
  for (int kh = 0; kh < KH; ++kh) {
    const int h = oh * SH + kh * DH - PT;
    const int near_h = clamp(h, 0, H - 1);
    for (int kw = 0; kw < KW; ++kw) {
      const int w = ow * SW + kw * DW - PL;
      const int near_w = clamp(w, 0, W - 1);
      const float8 value = EIGHT_AT(MEMORY_src, src, ((n * H + near_h) * W + near_w) * of_pixel + c);
      const float8 larger = select(largest, value, value > largest || value != value);
      largest = h == near_h && w == near_w ? larger : largest;
    }
  }
  for (int t = 0; t < 8; ++t) {
    const float finished = EPILOGUE(largest.s0, n, min(8 * c + t, C - 1), oh, ow);
    largest.s0 = 8 * c + t < C ? finished : 0.0f;
    largest = largest.s12345670;
  }
  PUT_EIGHT(MEMORY_dst, dst, e, largest);
}
