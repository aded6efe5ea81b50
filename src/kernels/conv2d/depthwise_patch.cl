// SPDX-License-Identifier: Apache-2.0
//
// conv2d.depthwise_patch: dst[n,o,oh,ow] = EPILOGUE(sum over kh, kw of
//     src[n, o / (O/G), oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[o,0,kh,kw]), for GPUs
//
//   src      NCHW     ((n*C + c)*H + h)*W + w
//   weights  OIHW     o*KH*KW + kh*KW + kw
//   dst(n, o, oh, ow)   through accessors
//
// One work-item computes ROWS x PATCH neighbours of a plane of dst (shared/patches.clh has the picture). It multiplies
// each element of src that it reads for all of them.
//
// Tunables: ROWS, 1 on GPUs with more than 16 units, which need the work-items more than they need fewer loads, 2
// where 16 vectors are all registers; PATCH, always 4; LOCAL_W, LOCAL_H, LOCAL_O: work-items of a work-group. An H100
// wants neighbours of a row in step (8 x 4 x 4 takes three quarters of the time of 2 x 2 x 16); small GPUs waste
// less of small images the other way round.
// Filters that need more than 16 rows of src at once are other kernels' work.
// Assumes: src and dst take less than 4 GiB each, weights too; O is below 2^16.
#if PATCH != 4
#error "conv2d.depthwise_patch: PATCH must be 4"
#endif
#define USE_ROW(y)                                                                                 \
  _Pragma("unroll") for (int i = 0; i < ROWS; ++i) {                                               \
    _Pragma("unroll") for (int kh = 0; kh < KH; ++kh) {                                            \
      if (i * SH + kh * DH != (y)) continue;                                                       \
      _Pragma("unroll") for (int kw = 0; kw < KW; ++kw) {                                          \
        _Pragma("unroll") for (int j = 0; j < 4; ++j) {                                            \
          sum[i][j] += row[j * SW + kw * DW] * filter[kh * KW + kw];                               \
        }                                                                                          \
      }                                                                                            \
    }                                                                                              \
  }
#define USE_ALONE(v, kh, kw) alone += (v)*AT_weights(((int)o * KH + (kh)) * KW + (kw))
#define RESULT(v, y, x) (v)

__kernel ATTRIBUTES void depthwise_patch(ARGUMENTS) {
  PATCH_OF_ITEM(O)
  const int c = quotient(o, quotient(O, G));
  __global const float* taps = BEHIND(weights, float, 4u * o * (KH * KW));
  float filter[KH * KW];
  TAKE_FLOATS(filter, taps, KH * KW)
  FINISH_PATCHES(c, 0.0f)
}
#undef USE_ROW
#undef USE_ALONE
#undef RESULT
