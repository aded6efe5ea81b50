// SPDX-License-Identifier: Apache-2.0
//
// roi_max_pool.naive: dst[r,c,oh,ow] = EPILOGUE(the largest element of src[n,c,h,w] in bin (oh, ow) of a part of the
// image), n = rois[r,0]. The part reaches from column rois[r,1], row rois[r,2] to column rois[r,3], row rois[r,4], both
// included, times SCALE (its bits) and rounded. With PLACE dst is the number of the first such element in src.
//
//   src(n, c, h, w), rois(r, q), dst(r, c, oh, ow)   through accessors
//
//        +----+----+
//        |x x |x x |    bins are as large as they must be to cover the part, and may share a row or a column; 0 (the
//        |x x |x x |    number -1) of a bin without elements, and where there is no image n
//        +----+----+
//
// One work-item: one element of dst; work-items are numbered along ow, oh, c, r.
//
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits.
// Source: R. Girshick, "Fast R-CNN", 2015.

// Declares the elements of bin `o` of `count` along a side.
#define ELEMENTS_OF_BIN(first, end, from, to, o, count, extent)                                        \
  const int first##_corner = (int)fmin(fmax(round((float)(from) * scale), -1048576.0f), 1048576.0f);   \
  const int first##_last = (int)fmin(fmax(round((float)(to) * scale), -1048576.0f), 1048576.0f);       \
  const long first##_length = max(first##_last - first##_corner + 1, 1);                               \
  const int first = min(max((int)((o) * first##_length / (count)) + first##_corner, 0), (extent));     \
  const int end =                                                                                      \
      min(max((int)((((o) + 1) * first##_length + (count) - 1) / (count)) + first##_corner, 0), (extent));

__kernel ATTRIBUTES void roi_max_pool(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)(R * C * OH * OW)) return;
  const place at = place_of(e, C, OH, OW);
  const TYPE_rois image = LOAD_rois(at.n, 0);
  TYPE_acc result = PLACE ? -1 : 0;
  if (image >= 0 && image < (TYPE_rois)N) {
    const int n = (int)image;
    const float scale = as_float((int)(SCALE));
    ELEMENTS_OF_BIN(top, bottom, LOAD_rois(at.n, 2), LOAD_rois(at.n, 4), at.h, OH, H)
    ELEMENTS_OF_BIN(left, right, LOAD_rois(at.n, 1), LOAD_rois(at.n, 3), at.w, OW, W)
    bool is_first = true;
    TYPE_src largest = 0;
    for (int h = top; h < bottom; ++h) {
      for (int w = left; w < right; ++w) {
        const TYPE_src value = LOAD_src(n, at.c, h, w);
        // A NaN is the largest, as in max_pool2d.naive; the first one stays.
        if (!is_first && !(value > largest || (value != value && largest == largest))) continue;
        is_first = false;
        largest = value;
#if PLACE
        result = (((long)n * C + at.c) * H + h) * W + w;
#else
        result = value;
#endif
      }
    }
  }
  STORE_dst(at.n, at.c, at.h, at.w, EPILOGUE(result, at.n, at.c, at.h, at.w));
}
#undef ELEMENTS_OF_BIN
