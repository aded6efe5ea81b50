// SPDX-License-Identifier: Apache-2.0
//
// max_pool2d.patch: dst[n,c,oh,ow] = EPILOGUE(largest src[n, c, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] of those
// (kh, kw) that fall inside the image), for GPUs.
// average_pool2d.patch: the same with their sum, divided by a count, in place of the largest. What counts is stated in
// average_pool2d/naive.cl.
//
//   src   NCHW     ((n*C + c)*H + h)*W + w
//   dst(n, c, oh, ow)   through accessors
//
// One work-item computes ROWS x 4 neighbours of a plane of dst (shared/patches.clh has the picture). What a row of the
// window gives along w is worked out once for all results that share it.
//
// A NaN in the window stays, as ONNX's reference has it. fmax() drops it and is one instruction, so a sum of all that
// is read tells whether there was one. It may be NaN for another reason, which costs time only.
// Tunables: ROWS; LOCAL_W, LOCAL_H, LOCAL_C, work-items of a work-group; AVERAGE in average_pool2d.patch only.
// Assumes: src and dst take less than 4 GiB each. A window that misses the image gives -infinity; of an average every
// window has something that counts.
#ifdef AVERAGE
#define OUTSIDE 0.0f
#define BOTH(a, b) ((a) + (b))
// The image, widened by its padding with COUNT_PAD.
#define COUNTED_ROWS(y) counted((int)(y)*SH - PT, KH, DH, COUNT_PAD ? -PT : 0, H + (COUNT_PAD ? PB : 0))
#define COUNTED_COLUMNS(x) counted((int)(x)*SW - PL, KW, DW, COUNT_PAD ? -PL : 0, W + (COUNT_PAD ? PR : 0))
#define RESULT(v, y, x) ((v) / (float)(COUNTED_ROWS(y) * COUNTED_COLUMNS(x)))
#else
#define OUTSIDE -INFINITY
#define BOTH(a, b) fmax(a, b)
#define RESULT(v, y, x) (v)
#endif
#define USE_ROW(y)                                                                       \
  float along[4];                                                                        \
  _Pragma("unroll") for (int j = 0; j < 4; ++j) {                                        \
    along[j] = row[j * SW];                                                              \
    _Pragma("unroll") for (int kw = 1; kw < KW; ++kw) {                                  \
      along[j] = BOTH(along[j], row[j * SW + kw * DW]);                                  \
    }                                                                                    \
  }                                                                                      \
  _Pragma("unroll") for (int i = 0; i < ROWS; ++i) {                                     \
    const int kh = ((y)-i * SH) / DH;                                                    \
    if (i * SH + kh * DH != (y) || i * SH > (y) || kh >= KH) continue;                   \
    _Pragma("unroll") for (int j = 0; j < 4; ++j) sum[i][j] = BOTH(sum[i][j], along[j]); \
  }                                                                                      \
  WATCH
#ifdef AVERAGE
#define WATCH
#define USE_ALONE(v, kh, kw) alone += (v)
#else
#define WATCH _Pragma("unroll") for (int t = 0; t < LENGTH; ++t) watch += row[t];
#define USE_ALONE(v, kh, kw)                           \
  {                                                    \
    const float one = (v);                             \
    if (one > alone || one != one) alone = one;        \
  }
#endif

__kernel ATTRIBUTES void pool_patch(ARGUMENTS) {
  PATCH_OF_ITEM(C)
  FINISH_PATCHES((int)o, OUTSIDE)
}
#undef OUTSIDE
#undef BOTH
#undef RESULT
#undef USE_ROW
#undef USE_ALONE
#undef WATCH
#ifdef AVERAGE
#undef COUNTED_ROWS
#undef COUNTED_COLUMNS
#endif
