// SPDX-License-Identifier: Apache-2.0
//
// resize2d.naive: dst[c,oh,ow] = EPILOGUE(sum over the TAPS rows h and TAPS columns w around
//     p = (HN*oh + HA) / HD and q = (WN*ow + WA) / WD of row weight * column weight * src[c,h,w])
//
//   src(c, h, w), dst(c, oh, ow)   through accessors
//
//        src[c]   .  .  .  .
//                 .  x  x  .  <- floor(p)        TAPS 2: weights 1 - f and f, f = p - floor(p)
//                 .  x  x  .     floor(p) + 1    TAPS 4: one row and column more on each side, weighted
//                 .  .  .  .                     by Keys' cubic, whose coefficient has the bits CUBIC
//                   q
//
// p and q are exact: whole numbers are divided, only f is rounded. A row or column outside the image
// is the one at its border; with EXCLUDE its weight is zero, and the others are divided by their sum.
// One work-item: one element of dst; work-items are numbered along ow, oh, c and spread over two
// dimensions of 32,768 at most.
//
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits.
// Source: R. Keys, "Cubic convolution interpolation for digital image processing", 1981.
__kernel ATTRIBUTES void resize_naive(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)(C * OH * OW)) return;
  const int position[2] = {e / OW % OH, e % OW};
  const int c = e / (OW * OH);
  const int extent[2] = {H, W};
  const int factor[2] = {HN, WN};
  const int added[2] = {HA, WA};
  const int divisor[2] = {HD, WD};

  int place[2][TAPS];
  float weight[2][TAPS];
  for (int d = 0; d < 2; ++d) {
    const long above = (long)factor[d] * position[d] + added[d];
    // Rounded down, where C rounds towards zero.
    const int whole = (int)(above >= 0 ? above / divisor[d] : -((divisor[d] - 1 - above) / divisor[d]));
    const float f = (float)(above - (long)whole * divisor[d]) / (float)divisor[d];
    float total = 0.0f;
    for (int t = 0; t < TAPS; ++t) {
      const int at = whole + t - (TAPS / 2 - 1);
      float own;
      if (TAPS == 2) {
        own = t == 0 ? 1.0f - f : f;
      } else {
        const float a = as_float((int)(CUBIC));
        // Distance from the tap to the position.
        const float x = t < 2 ? f + (float)(1 - t) : (float)(t - 1) - f;
        own = t == 1 || t == 2 ? ((a + 2.0f) * x - (a + 3.0f)) * x * x + 1.0f
                               : ((a * x - 5.0f * a) * x + 8.0f * a) * x - 4.0f * a;
      }
      if (EXCLUDE && (at < 0 || at >= extent[d])) own = 0.0f;
      total += own;
      weight[d][t] = own;
      place[d][t] = clamp(at, 0, extent[d] - 1);
    }
    for (int t = 0; EXCLUDE && t < TAPS; ++t) weight[d][t] /= total;
  }

  TYPE_acc sum = 0;
  for (int i = 0; i < TAPS; ++i) {
    TYPE_acc row = 0;
    for (int j = 0; j < TAPS; ++j) row += weight[1][j] * LOAD_src(c, place[0][i], place[1][j]);
    sum += weight[0][i] * row;
  }
  const int oh = position[0];
  const int ow = position[1];
  STORE_dst(c, oh, ow, EPILOGUE(sum, c, oh, ow));
}
