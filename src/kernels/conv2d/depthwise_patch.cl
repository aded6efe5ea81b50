// SPDX-License-Identifier: Apache-2.0
//
// conv2d.depthwise_patch: dst[n,o,oh,ow] = EPILOGUE(sum over kh, kw of
//     src[n, o / (O/G), oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[o,0,kh,kw]), for GPUs
//
//   src      NCHW     ((n*C + c)*H + h)*W + w
//   weights  OIHW     o*KH*KW + kh*KW + kw
//   dst(n, o, oh, ow)   through accessors
//
//        src[n,c]     w ->                    SW = 1, KW = KH = 3, PATCH = ROWS = 4
//          h  [x x x x x x]                   one work-item: ROWS x PATCH neighbours of a plane of dst. It
//          |  [x x x x x x]                   reads each element of src once that they share, row by row,
//          v  [x x x x x x]                   and multiplies it for all of them.
//             [x x x x x x]
//             [x x x x x x]
//             [x x x x x x]
//
// Work-items lie along ow / PATCH, oh / ROWS and o, and take the images one after another: no index is divided.
// A row of src is read at constant distances from its first element, which costs GPUs no address for each.
// What lies beside the image belongs to another row or plane; it is read and not used. Only where the window
// of a patch leaves the tensor, at its first and last rows, each element of dst is computed for itself.
//
// Tunables: ROWS, 1 on GPUs with more than 16 units, which need the work-items more than they need fewer loads, 2
// where 16 vectors are all registers; PATCH, always 4; LOCAL_W, LOCAL_H, LOCAL_O: work-items of a work-group. An H100
// wants neighbours of a row in step (8 x 4 x 4 takes three quarters of the time of 2 x 2 x 16); small GPUs waste
// less of small images the other way round.
// Filters that need more than 16 rows of src at once are other kernels' work.
// Assumes: src and dst take less than 4 GiB each.
#define LENGTH ((PATCH - 1) * SW + (KW - 1) * DW + 1)
#define HEIGHT ((ROWS - 1) * SH + (KH - 1) * DH + 1)

#if PATCH != 4 || (ROWS - 1) * SH + (KH - 1) * DH > 15
#error "conv2d.depthwise_patch: PATCH must be 4, and a patch may need 16 rows of src"
#endif

// An element of dst whose patch leaves the tensor.
#define ALONE(n, o, c, oh, ow)                                                                  \
  {                                                                                             \
    float alone = 0.0f;                                                                         \
    for (int kh = 0; kh < KH; ++kh) {                                                           \
      const int y = (oh)*SH + kh * DH - PT;                                                     \
      if (y < 0 || y >= H) continue;                                                            \
      for (int kw = 0; kw < KW; ++kw) {                                                         \
        const int x = (ow)*SW + kw * DW - PL;                                                   \
        if (x < 0 || x >= W) continue;                                                          \
        alone += AT_src((((n)*C + (c)) * H + y) * W + x) * AT_weights(((o)*KH + kh) * KW + kw); \
      }                                                                                         \
    }                                                                                           \
    STORE_dst(n, o, oh, ow, EPILOGUE(alone, n, o, oh, ow));                                     \
  }

// Row y of the window, which begins at `line`. A loop over y would not be unrolled by all compilers, and each turn
// would ask which rows of dst it is for.
#define ROW(y)                                                         \
  if ((y) < HEIGHT && ((y) >= PT || h + (y) >= 0) && (y) < rows) {     \
    float row[LENGTH];                                                 \
    _Pragma("unroll") for (int x = 0; x < LENGTH; ++x) {               \
      const float element = line[x];                                   \
      row[x] = x >= PL || w + x >= 0 ? element : 0.0f;                 \
      row[x] = x < columns ? row[x] : 0.0f;                            \
    }                                                                  \
    _Pragma("unroll") for (int i = 0; i < ROWS; ++i) {                 \
      _Pragma("unroll") for (int kh = 0; kh < KH; ++kh) {              \
        if (i * SH + kh * DH != (y)) continue;                         \
        _Pragma("unroll") for (int kw = 0; kw < KW; ++kw) {            \
          _Pragma("unroll") for (int j = 0; j < PATCH; ++j) {          \
            sum[i][j] += row[j * SW + kw * DW] * filter[kh * KW + kw]; \
          }                                                            \
        }                                                              \
      }                                                                \
    }                                                                  \
  }                                                                    \
  line = BEHIND(line, float, 4u * (uint)W);

__kernel ATTRIBUTES void depthwise_patch(ARGUMENTS) {
  const int ow = get_global_id(0) * PATCH;
  const int oh = get_global_id(1) * ROWS;
  const int o = get_global_id(2);
  if (ow >= OW || oh >= OH || o >= O) return;
  int c = o;
  if (O != G) c = o / (O / G);
  const int h = oh * SH - PT;
  const int w = ow * SW - PL;
  // Of the image, from the window's first row and column on.
  const int rows = H - h;
  const int columns = W - w;

  __global const float* taps = BEHIND(weights, float, 4u * (uint)(o * (KH * KW)));
  float filter[KH * KW];
#pragma unroll
  for (int k = 0; k < KH * KW; ++k) filter[k] = taps[k];

  for (int n = 0; n < N; ++n) {
    const int first = ((n * C + c) * H + h) * W + w;
    if (first < 0 || first + (HEIGHT - 1) * W + LENGTH > N * C * H * W) {
      for (int row = oh; row < min(oh + ROWS, OH); ++row) {
        for (int column = ow; column < min(ow + PATCH, OW); ++column) ALONE(n, o, c, row, column)
      }
      continue;
    }
    float sum[ROWS][PATCH];
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
#pragma unroll
      for (int j = 0; j < PATCH; ++j) sum[i][j] = 0.0f;
    }
    __global const float* line = BEHIND(src, float, 4u * (uint)first);
    ROW(0) ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7)
    ROW(8) ROW(9) ROW(10) ROW(11) ROW(12) ROW(13) ROW(14) ROW(15)
    // The rows move up instead of being indexed, so that they stay in registers.
    for (int y = oh; y < min(oh + ROWS, OH); ++y) {
#pragma unroll
      for (int j = 0; j < PATCH; ++j) {
        sum[0][j] = EPILOGUE(sum[0][j], n, o, y, min(ow + j, OW - 1));
      }
      if (ow + 4 <= OW) {
        STORE4_dst(n, o, y, ow, (float4)(sum[0][0], sum[0][1], sum[0][2], sum[0][3]));
      } else {
#pragma unroll
        for (int j = 0; j < 3; ++j) {
          if (ow + j < OW) STORE_dst(n, o, y, ow + j, sum[0][j]);
        }
      }
#pragma unroll
      for (int i = 1; i < ROWS; ++i) {
#pragma unroll
        for (int j = 0; j < PATCH; ++j) sum[i - 1][j] = sum[i][j];
      }
    }
  }
}
#undef LENGTH
#undef HEIGHT
#undef ALONE
#undef ROW
