// SPDX-License-Identifier: Apache-2.0
//
// integer_conv2d.windows: dst[n,o,oh,ow] = EPILOGUE(sum over i, kh, kw of
//     code[n, o/(O/G)*I + i, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[o,i,kh,kw]),
// where code is src within the image and border[c] outside of it, for GPUs.
//
//   src      NCHW4c        (((n*Q + c/4)*H + h)*W + w)*4 + c%4,   Q = ceil(C / 4)
//   weights  OHWI{T}o4i    ((((o/T*KH + kh)*KW + kw)*P + i/4)*T + o%T)*4 + i%4,   P = ceil(I / 4)
//   border   C4c           c
//   dst      NOHW4o        (((n*R + o/4)*OH + oh)*OW + ow)*4 + o%4,   R = O_pad / 4
//
//                             weights: four channels of OUTPUTS outputs, the same for all of a work-group
//                             o     o+OUTPUTS
//         src  i .. i+3      [q q q q]
//       pixel     q   ---->  [+ + + +]        q: four bytes, one number of 32 bits
//       pixel     q   ---->  [+ + + +]        PIXELS x OUTPUTS sums for each work-item
//
// Work-groups are numbered 256 along the first dimension, then along the third. Each takes PIXELS * LOCAL
// neighbouring pixels of dst, through rows and images. A work-item's own are LOCAL apart, so that neighbours read
// neighbours. GPUs multiply four pairs of bytes in one instruction: NVIDIA's by dp4a,
// others where their compiler has OpenCL's dot products of packed bytes. Else four products stand in its place.
//
// The products are of unsigned codes and signed weights, or with SIGNED of signed codes: Adreno has the former, Mali the
// latter. Codes of the other kind change their sign: the upper bits flip, which adds 128 to each or takes that away. The
// sums of the weights make up for it. All of it is exact. Of several groups each begins with a block of outputs and with a
// block of channels.
//
// Tunables: PIXELS, OUTPUTS (the T above), LOCAL, work-items of a work-group; PTX, whether the device takes NVIDIA's;
// SIGNED.
#define HAS_SIGNS ((TYPE_src)-1 < 0)
#define FLIP (HAS_SIGNS == SIGNED ? 0u : 0x80808080u)
#define BYTE(v, at) ((int)(((v) << (24 - 8 * (at))) & 0xff000000u) >> 24)
#define CODE(v, at) (SIGNED ? BYTE(v, at) : (int)((v) >> (8 * (at)) & 255u))

// `sum` and the products of the bytes of codes `a` and of weights `b`.
#if PTX && SIGNED
#define ADD_DOT(sum, a, b) asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b))
#elif PTX
#define ADD_DOT(sum, a, b) asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b))
#elif defined(__opencl_c_integer_dot_product_input_4x8bit_packed) && SIGNED
#define ADD_DOT(sum, a, b) sum += dot_4x8packed_ss_int(a, b)
#elif defined(__opencl_c_integer_dot_product_input_4x8bit_packed)
#define ADD_DOT(sum, a, b) sum += dot_4x8packed_us_int(a, b)
#else
#define ADD_DOT(sum, a, b)                                            \
  sum += CODE(a, 0) * BYTE(b, 0) + CODE(a, 1) * BYTE(b, 1) + \
         CODE(a, 2) * BYTE(b, 2) + CODE(a, 3) * BYTE(b, 3)
#endif

__kernel ATTRIBUTES void integer_windows(ARGUMENTS) {
  const int o0 = get_global_id(1) * OUTPUTS;
  const int group = get_group_id(2) * 256 + get_group_id(0);
  const int first = group * (PIXELS * LOCAL) + get_local_id(0);
  const int pixels = N * OH * OW;
  const int in_blocks = (C + 3) / 4;
  const int quads = (I + 3) / 4;
  const int channel = G == 1 ? 0 : o0 / (O / G) * I;
  int row[PIXELS];
  int column[PIXELS];
  int plane[PIXELS];
  int sum[PIXELS][OUTPUTS];
  int flipped[OUTPUTS];
#pragma unroll
  for (int o = 0; o < OUTPUTS; ++o) flipped[o] = 0;
#pragma unroll
  for (int p = 0; p < PIXELS; ++p) {
    const int pixel = min(first + p * LOCAL, pixels - 1);
    const int line = pixel / OW;
    column[p] = pixel % OW * SW - PL;
    row[p] = line % OH * SH - PT;
    plane[p] = (line / OH * in_blocks + channel / 4) * H;
#pragma unroll
    for (int o = 0; o < OUTPUTS; ++o) sum[p][o] = 0;
  }

  __global const uint* filter = (__global const uint*)weights + o0 * (KH * KW) * quads;
  for (int kh = 0; kh < KH; ++kh) {
    for (int kw = 0; kw < KW; ++kw) {
      __global const uint* from[PIXELS];
      int apart[PIXELS];
#pragma unroll
      for (int p = 0; p < PIXELS; ++p) {
        const int h = row[p] + kh * DH;
        const int w = column[p] + kw * DW;
        const int inside = ((uint)h < (uint)H) & ((uint)w < (uint)W);
        from[p] = inside ? (__global const uint*)src + (plane[p] + h) * W + w : (__global const uint*)border + channel / 4;
        apart[p] = inside ? H * W : 1;
      }
      for (int q = 0; q < quads; ++q) {
        uint across[OUTPUTS];
#pragma unroll
        for (int o = 0; o < OUTPUTS; ++o) across[o] = filter[o];
        filter += OUTPUTS;
        if (FLIP != 0u) {
#pragma unroll
          for (int o = 0; o < OUTPUTS; ++o) ADD_DOT(flipped[o], 0x01010101u, across[o]);
        }
#pragma unroll
        for (int p = 0; p < PIXELS; ++p) {
          const uint codes = *from[p] ^ FLIP;
          from[p] += apart[p];
#pragma unroll
          for (int o = 0; o < OUTPUTS; ++o) ADD_DOT(sum[p][o], codes, across[o]);
        }
      }
    }
  }

  for (int p = 0; p < PIXELS; ++p) {
    const int pixel = first + p * LOCAL;
    if (pixel >= pixels) break;
    const int line = pixel / OW;
    const int n = line / OH;
    const int oh = line % OH;
    const int ow = pixel % OW;
    for (int o = 0; o < min(OUTPUTS, O - o0); ++o) {
      const int found = sum[p][o] + (SIGNED ? 128 : -128) * flipped[o];
      const int block = n * (O_pad / 4) + (o0 + o) / 4;
      dst[((block * OH + oh) * OW + ow) * 4 + o % 4] = EPILOGUE(found, n, o0 + o, oh, ow);
    }
  }
}
#undef HAS_SIGNS
#undef FLIP
#undef BYTE
#undef CODE
#undef ADD_DOT
