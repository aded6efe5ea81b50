// SPDX-License-Identifier: Apache-2.0
//
// conv2d.groups_blocks: dst[n,o,oh,ow] = EPILOGUE(sum over i, kh, kw of
//     src[n, o/I*I + i, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[o,i,kh,kw]), for CPUs
//
//   src      NCHW{L}c    (((n*Q + c/L)*H + h)*W + w)*L + c%L,   Q = ceil(C / L)
//   weights  OIHW{L}o    (((o/L*I + i)*KH + kh)*KW + kw)*L + o%L
//   dst      NOHW{L}o    (((n*Q + o/L)*OH + oh)*OW + ow)*L + o%L; zero from O on
//
// Groups of 2, 4 or 8 channels and as many outputs, so that a block of L channels holds whole
// groups, and the outputs that read them are the block of dst with the same number.
//
//   I = 4:   a vector of src     [a b c d  e f g h  ...]
//            its channel i = 1   [b b b b  f f f f  ...]     spread within each group, in registers,
//            weights of i = 1    [w w w w  w w w w  ...]     and multiplied: four outputs of four groups
//
// A tile is PIXELS neighbours of a row of dst. What their windows reach is copied to local memory, zeros
// for what lies outside of the image, whatever the stride. For each row of the filter and each i a
// pixel of the copy is spread once, and serves up to KW windows.
//
// Tunables: LANES, the L above: floats of a vector;
// PIXELS of a tile; STRIP, pixels that local memory holds; GROUPS, work-items for each compute unit at most.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory.
// `a * b + c` is left to the compiler to contract into one operation: PoCL's mad() is two.
#define SPAN ((PIXELS - 1) * SW + (KW - 1) * DW + 1)
#if KH * SPAN > STRIP || (I != 2 && I != 4 && I != 8) || I > LANES
#error "conv2d.groups_blocks: STRIP must hold the windows of a tile, I be 2, 4 or 8"
#endif
// Channel i of each group, in all places of the group.
#if LANES == 4 && I == 2
#define SPREAD_0(v) v.s0022
#define SPREAD_1(v) v.s1133
#elif LANES == 4
#define SPREAD_0(v) v.s0000
#define SPREAD_1(v) v.s1111
#define SPREAD_2(v) v.s2222
#define SPREAD_3(v) v.s3333
#elif LANES == 8 && I == 2
#define SPREAD_0(v) v.s00224466
#define SPREAD_1(v) v.s11335577
#elif LANES == 8 && I == 4
#define SPREAD_0(v) v.s00004444
#define SPREAD_1(v) v.s11115555
#define SPREAD_2(v) v.s22226666
#define SPREAD_3(v) v.s33337777
#elif LANES == 8
#define SPREAD_0(v) v.s00000000
#define SPREAD_1(v) v.s11111111
#define SPREAD_2(v) v.s22222222
#define SPREAD_3(v) v.s33333333
#define SPREAD_4(v) v.s44444444
#define SPREAD_5(v) v.s55555555
#define SPREAD_6(v) v.s66666666
#define SPREAD_7(v) v.s77777777
#elif I == 2
#define SPREAD_0(v) v.s0022446688aaccee
#define SPREAD_1(v) v.s1133557799bbddff
#elif I == 4
#define SPREAD_0(v) v.s000044448888cccc
#define SPREAD_1(v) v.s111155559999dddd
#define SPREAD_2(v) v.s22226666aaaaeeee
#define SPREAD_3(v) v.s33337777bbbbffff
#else
#define SPREAD_0(v) v.s0000000088888888
#define SPREAD_1(v) v.s1111111199999999
#define SPREAD_2(v) v.s22222222aaaaaaaa
#define SPREAD_3(v) v.s33333333bbbbbbbb
#define SPREAD_4(v) v.s44444444cccccccc
#define SPREAD_5(v) v.s55555555dddddddd
#define SPREAD_6(v) v.s66666666eeeeeeee
#define SPREAD_7(v) v.s77777777ffffffff
#endif
// Adds to the sums what channel i of each group gives, in row kh of the filter. A pixel of the copy is
// read by those windows that it is a whole number of steps away from.
#define ADD_CHANNEL(i)                                                 \
  {                                                                    \
    vector filter[KW];                                                 \
    _Pragma("unroll") for (int kw = 0; kw < KW; ++kw) {                \
      filter[kw] = vector_at(filters + ((i)*KH * KW + kw) * LANES);    \
    }                                                                  \
    _Pragma("unroll") for (int x = 0; x < SPAN; ++x) {                 \
      const vector pixel = *(__local const vector*)(line + x * LANES); \
      const vector all = SPREAD_##i(pixel);                            \
      _Pragma("unroll") for (int kw = 0; kw < KW; ++kw) {              \
        const int p = (x - kw * DW) / SW;                              \
        if (x >= kw * DW && (x - kw * DW) % SW == 0 && p < PIXELS) {   \
          sum[p] += all * filter[kw];                                  \
        }                                                              \
      }                                                                \
    }                                                                  \
  }

__kernel ATTRIBUTES void groups_blocks(ARGUMENTS) {
  __local float strip[STRIP * LANES];
  __local float sums[PIXELS * LANES];
  const int blocks = (C + LANES - 1) / LANES;
  const int across = (OW + PIXELS - 1) / PIXELS;
  const int tiles = N * blocks * OH * across;
  const int last = share(tiles, get_global_id(0) + 1, get_global_size(0));
  for (int t = share(tiles, get_global_id(0), get_global_size(0)); t < last; ++t) {
    const int ow = t % across * PIXELS;
    const int oh = t / across % OH;
    const int block = t / across / OH % blocks;
    const int n = t / across / OH / blocks;
    const int count = min(OW - ow, PIXELS);
    const int h0 = oh * SH - PT;
    const int w0 = ow * SW - PL;
    __global const MEMORY_src* plane = src + (n * blocks + block) * (H * W) * LANES;
    // Pixels of the copy that lie in the image, and columns beyond the last window, which none reads.
    const int begin = clamp(-w0, 0, SPAN);
    const int end = clamp(W - w0, begin, SPAN);

    vector sum[PIXELS];
#pragma unroll
    for (int p = 0; p < PIXELS; ++p) sum[p] = 0.0f;
    for (int kh = 0; kh < KH; ++kh) {
      const int h = h0 + kh * DH;
      if ((h < 0) | (h >= H)) continue;
      __local float* line = strip + kh * SPAN * LANES;
      for (int x = 0; x < begin; ++x) *(__local vector*)(line + x * LANES) = 0.0f;
      for (int x = begin; x < end; ++x) {
        *(__local vector*)(line + x * LANES) = vector_at(plane + (h * W + w0 + x) * LANES);
      }
      for (int x = end; x < SPAN; ++x) *(__local vector*)(line + x * LANES) = 0.0f;
    }
    for (int kh = 0; kh < KH; ++kh) {
      const int h = h0 + kh * DH;
      if ((h < 0) | (h >= H)) continue;
      __local const float* line = strip + kh * SPAN * LANES;
      __global const MEMORY_weights* filters = weights + (block * I * KH + kh) * KW * LANES;
      ADD_CHANNEL(0)
      ADD_CHANNEL(1)
#if I > 2
      ADD_CHANNEL(2)
      ADD_CHANNEL(3)
#endif
#if I > 4
      ADD_CHANNEL(4)
      ADD_CHANNEL(5)
      ADD_CHANNEL(6)
      ADD_CHANNEL(7)
#endif
    }
#pragma unroll
    for (int p = 0; p < PIXELS; ++p) *(__local vector*)(sums + p * LANES) = sum[p];

    // The text of the epilogue stands in one loop: it may be long, and PoCL compiles every copy.
    const int o = block * LANES;
    __global MEMORY_dst* out = dst + (((n * blocks + block) * OH + oh) * OW + ow) * LANES;
    for (int p = 0; p < count; ++p) {
      const vector found = *(__local const vector*)(sums + p * LANES);
      put_vector(out + p * LANES,
                 FINISHED_LANES(o, O, EPILOGUE_VECTOR(found, n, o, oh, ow + p),
                                EPILOGUE_EDGE(found, n, o, oh, ow + p)));
    }
  }
}
#undef SPAN
#undef ADD_CHANNEL
#undef SPREAD_0
#undef SPREAD_1
#undef SPREAD_2
#undef SPREAD_3
#undef SPREAD_4
#undef SPREAD_5
#undef SPREAD_6
#undef SPREAD_7
