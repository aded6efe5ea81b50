// SPDX-License-Identifier: Apache-2.0
//
// grid_sample.naive: dst[n,c,p] = EPILOGUE(src[n,c,d,h,w] at the place grid[n,p,r]): r = 0 counts along w, r = 1 along
// h, r = 2 along d, from -1 to 1 over the image. With CORNERS these are the centres of its outer elements, else their
// outer edges.
//
//   src(n, c, d, h, w), grid(n, p, r), dst(n, c, p)   through accessors
//
//        src[n,c]   .  .  .  .
//                   .  x  x  .       TAPS 1: the nearest element, 2: weights 1 - f and f along each dimension,
//                   .  x  x  .       4: one more on each side, weighted by Keys' cubic with -0.75
//                   .  .  .  .
//
// PADDING 0: what lies outside is 0; 1: it is the element at the border; 2: the image is mirrored there, as often as
// needed. One work-item: one place of the grid, and CHANNELS channels there, which share the weights.
//
// Tunables: CHANNELS; LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits.
// Source: R. Keys, "Cubic convolution interpolation for digital image processing", 1981.
#define REFLECTED(x, least, most)                                                                     \
  if ((most) > (least) && ((x) < (least) || (x) > (most))) {                                          \
    const TYPE_acc range = (most) - (least);                                                          \
    const TYPE_acc beyond = (x) < (least) ? (least) - (x) : (x) - (most);                             \
    const TYPE_acc times = floor(beyond / range);                                                     \
    const TYPE_acc rest = beyond - times * range;                                                     \
    const int is_even = fmod(times, (TYPE_acc)2) == 0;                                                \
    (x) = ((x) < (least)) == is_even ? (least) + rest : (most) - rest;                                \
  } else if ((most) <= (least)) {                                                                     \
    (x) = (least);                                                                                    \
  }

__kernel ATTRIBUTES void grid_sample(ARGUMENTS) {
  const int groups = (C + CHANNELS - 1) / CHANNELS;
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)(N * groups * P)) return;
  const int p = e % P;
  const int c = e / P % groups * CHANNELS;
  const int n = e / P / groups;

  int place[R][TAPS];
  TYPE_acc weight[R][TAPS];
  for (int r = 0; r < R; ++r) {
    const int extent = r == 0 ? W : r == 1 ? H : D;
    const TYPE_acc given = LOAD_grid(n, p, r);
    const TYPE_acc one_half = (TYPE_acc)0.5;
    const TYPE_acc least = CORNERS ? (TYPE_acc)0 : -one_half;
    const TYPE_acc most = (TYPE_acc)(extent - 1) - least;
    TYPE_acc x = CORNERS ? (given + 1) * one_half * (TYPE_acc)(extent - 1) : ((given + 1) * (TYPE_acc)extent - 1) * one_half;
    if (TAPS == 1) x = rint(x);
    if (PADDING == 1 && (x < least || x > most)) x = fmin(fmax(x, (TYPE_acc)0), (TYPE_acc)(extent - 1));
    if (PADDING == 2) {
      REFLECTED(x, least, most)
    }
    // Beyond, all that takes part lies outside. What is no number lies there too.
    x = fmin(fmax(x, (TYPE_acc)-4), (TYPE_acc)extent + 4);
    const int whole = TAPS == 1 ? (int)x : (int)floor(x);
    const TYPE_acc f = x - (TYPE_acc)whole;
    for (int t = 0; t < TAPS; ++t) {
      const int at = whole + t - (TAPS == 4 ? 1 : 0);
      TYPE_acc own = 1;
      if (TAPS == 2) own = t == 0 ? 1 - f : f;
      if (TAPS == 4) {
        const TYPE_acc a = (TYPE_acc)-0.75;
        const TYPE_acc far = t < 2 ? f + (TYPE_acc)(1 - t) : (TYPE_acc)(t - 1) - f;
        own = t == 1 || t == 2 ? ((a + 2) * far - (a + 3)) * far * far + 1
                               : ((a * far - 5 * a) * far + 8 * a) * far - 4 * a;
      }
      int element = at;
      if (at < 0 || at >= extent) {
        element = -1;
        if (PADDING == 1) element = at < 0 ? 0 : extent - 1;
        if (PADDING == 2) {
          TYPE_acc mirrored = (TYPE_acc)at;
          REFLECTED(mirrored, least, most)
          element = min(max((int)mirrored, 0), extent - 1);
        }
      }
      weight[r][t] = own;
      place[r][t] = element;
    }
  }

  for (int k = 0; k < CHANNELS; ++k) {
    if (c + k >= C) break;
    TYPE_acc sum = 0;
    for (int td = 0; td < (R > 2 ? TAPS : 1); ++td) {
#if R > 2
      const int d = place[2][td];
      const TYPE_acc of_d = weight[2][td];
      if (d < 0) continue;
#else
      const int d = 0;
#endif
      for (int th = 0; th < (R > 1 ? TAPS : 1); ++th) {
#if R > 1
        const int h = place[1][th];
        const TYPE_acc of_h = weight[1][th];
        if (h < 0) continue;
#else
        const int h = 0;
        const TYPE_acc of_h = 1;
#endif
        TYPE_acc line = 0;
        for (int tw = 0; tw < TAPS; ++tw) {
          const int w = place[0][tw];
          if (w < 0) continue;
          const TYPE_acc value = LOAD_src(n, c + k, d, h, w);
          line += TAPS == 1 ? value : weight[0][tw] * value;
        }
#if R > 2
        sum += TAPS == 1 ? line : of_d * of_h * line;
#else
        sum += TAPS == 1 ? line : of_h * line;
#endif
      }
    }
    STORE_dst(n, c + k, p, EPILOGUE(sum, n, c + k, p));
  }
}
#undef REFLECTED
