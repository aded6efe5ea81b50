// SPDX-License-Identifier: Apache-2.0
//
// coupling.rows: dst[n,c] = the probability of class c, from src[n,p], the probability that the first class of pair
// p wins (src/problems/classical.hpp has the iteration).
//
//   src(n, p), dst(n, c)   through accessors
//
//        p ->
//     n [ x x x ]     one work-item: one row. Pair (i, j) with i < j is number i*(2*C-i-1)/2 + j-i-1. Rows are spread
//                     over two dimensions of 32,768 at most
//
// Tunables: LOCAL, work-items of a work-group.
#define PAIR(i, j) clamp((float)LOAD_src(n, (i) * (2 * C - (i)-1) / 2 + (j) - (i)-1), 1e-7f, 1.0f - 1e-7f)
#define WIN(i, j) ((i) < (j) ? PAIR(i, j) : 1.0f - PAIR(j, i))
#define WEIGHT(i, j) ((i) == (j) ? own[i] : -WIN(j, i) * WIN(i, j))

__kernel ATTRIBUTES void rows(ARGUMENTS) {
  const int n = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (n >= N) return;
  float own[C];
  float value[C];
  float product[C];
  for (int i = 0; i < C; ++i) {
    value[i] = 1.0f / C;
    own[i] = 0.0f;
    for (int k = 0; k < C; ++k) {
      if (k == i) continue;
      const float win = WIN(k, i);
      own[i] += win * win;
    }
  }
  for (int s = 0; s < 100; ++s) {
    float total = 0.0f;
    for (int i = 0; i < C; ++i) {
      product[i] = 0.0f;
      for (int j = 0; j < C; ++j) product[i] += WEIGHT(i, j) * value[j];
      total += value[i] * product[i];
    }
    float distance = 0.0f;
    for (int i = 0; i < C; ++i) distance = fmax(distance, fabs(product[i] - total));
    if (distance < 0.005f / C) break;
    for (int i = 0; i < C; ++i) {
      const float change = (total - product[i]) / own[i];
      const float scale = 1.0f + change;
      value[i] += change;
      total = (total + change * (change * own[i] + 2.0f * product[i])) / scale / scale;
      for (int j = 0; j < C; ++j) {
        product[j] = (product[j] + change * WEIGHT(i, j)) / scale;
        value[j] /= scale;
      }
    }
  }
  for (int c = 0; c < C; ++c) STORE_dst(n, c, EPILOGUE(value[c], n, c));
}
#undef PAIR
#undef WIN
#undef WEIGHT
