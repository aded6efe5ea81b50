// SPDX-License-Identifier: Apache-2.0
//
// roi_align.naive: dst[r,c,oh,ow] = EPILOGUE(the mean of points of src[n,c,h,w] in bin (oh, ow) of a part of the
// image; with LARGEST the largest weighted neighbour of a point), n = batch[r], the part from x = rois[r,0],
// y = rois[r,1] to rois[r,2], rois[r,3], times SCALE (its bits), with SHIFT less half an element.
//
//   src(n, c, h, w), rois(r, q), batch(r), dst(r, c, oh, ow)   through accessors
//
//        x1,y1 +----+----+
//              |. . |    |     a bin has SAMPLES x SAMPLES points; with 0 one for each element of its sides, 4,096 at
//              |. . |    |     most along a side. A point is interpolated between the four elements around it, and
//              +----+----+     0 where it is more than one element outside
//                        x2,y2
//
// One work-item: one element of dst; work-items are numbered along ow, oh, c, r. 0 where there is no image n.
//
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits.
// Source: K. He and others, "Mask R-CNN", 2017.

// Declares the two elements beside a point, -1 where it lies outside, and the weight of the second.
#define BETWEEN(low, high, weight, point, extent)                               \
  int low = -1, high = -1;                                                      \
  TYPE_acc weight = 0;                                                          \
  if ((point) >= -1 && (point) <= (TYPE_acc)(extent)) {                         \
    const TYPE_acc inside = fmax((point), (TYPE_acc)0);                         \
    low = min((int)inside, (extent) - 1);                                       \
    high = min(low + 1, (extent) - 1);                                          \
    weight = low == high ? (TYPE_acc)0 : inside - (TYPE_acc)low;                \
  }

__kernel ATTRIBUTES void roi_align(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)(R * C * OH * OW)) return;
  const place at = place_of(e, C, OH, OW);
  const long n = LOAD_batch(at.n);
  TYPE_acc result = 0;
  if (n >= 0 && n < N) {
    const TYPE_acc scale = as_float((int)(SCALE));
    const TYPE_acc offset = SHIFT ? (TYPE_acc)0.5 : (TYPE_acc)0;
    const TYPE_acc left = LOAD_rois(at.n, 0) * scale - offset;
    const TYPE_acc top = LOAD_rois(at.n, 1) * scale - offset;
    TYPE_acc width = LOAD_rois(at.n, 2) * scale - offset - left;
    TYPE_acc height = LOAD_rois(at.n, 3) * scale - offset - top;
    width = SHIFT ? width : fmax(width, (TYPE_acc)1);
    height = SHIFT ? height : fmax(height, (TYPE_acc)1);
    const TYPE_acc across = width / (TYPE_acc)OW;
    const TYPE_acc down = height / (TYPE_acc)OH;
    const int columns = SAMPLES > 0 ? SAMPLES : (int)fmax(fmin(ceil(across), (TYPE_acc)4096), (TYPE_acc)0);
    const int rows = SAMPLES > 0 ? SAMPLES : (int)fmax(fmin(ceil(down), (TYPE_acc)4096), (TYPE_acc)0);
    for (int row = 0; row < rows; ++row) {
      const TYPE_acc y = top + (TYPE_acc)at.h * down + ((TYPE_acc)row + (TYPE_acc)0.5) * down / (TYPE_acc)rows;
      BETWEEN(above, below, f, y, H)
      for (int column = 0; column < columns; ++column) {
        const TYPE_acc x =
            left + (TYPE_acc)at.w * across + ((TYPE_acc)column + (TYPE_acc)0.5) * across / (TYPE_acc)columns;
        BETWEEN(before, behind, g, x, W)
        TYPE_acc v0 = 0, v1 = 0, v2 = 0, v3 = 0;
        if (above >= 0 && before >= 0) {
          v0 = (1 - f) * (1 - g) * LOAD_src((int)n, at.c, above, before);
          v1 = (1 - f) * g * LOAD_src((int)n, at.c, above, behind);
          v2 = f * (1 - g) * LOAD_src((int)n, at.c, below, before);
          v3 = f * g * LOAD_src((int)n, at.c, below, behind);
        }
#if LARGEST
        const TYPE_acc point = fmax(fmax(v0, v1), fmax(v2, v3));
        result = row == 0 && column == 0 ? point : fmax(result, point);
#else
        result += v0 + v1 + v2 + v3;
#endif
      }
    }
#if !LARGEST
    result /= (TYPE_acc)max(rows * columns, 1);
#endif
  }
  STORE_dst(at.n, at.c, at.h, at.w, EPILOGUE(result, at.n, at.c, at.h, at.w));
}
#undef BETWEEN
