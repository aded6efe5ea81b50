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
  const int c = e / (OW * OH);
  const int oh = e / OW % OH;
  const int ow = e % OW;
  const taps rows = taps_at(HN, HA, HD, oh, H, EXCLUDE, CUBIC);
  const taps columns = taps_at(WN, WA, WD, ow, W, EXCLUDE, CUBIC);

  TYPE_acc sum = 0;
  for (int i = 0; i < TAPS; ++i) {
    TYPE_acc row = 0;
    for (int j = 0; j < TAPS; ++j) row += columns.weight[j] * LOAD_src(c, rows.place[i], columns.place[j]);
    sum += rows.weight[i] * row;
  }
  STORE_dst(c, oh, ow, EPILOGUE(sum, c, oh, ow));
}
