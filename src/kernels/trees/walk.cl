// SPDX-License-Identifier: Apache-2.0
//
// trees.walk, trees.rows: dst[s,n,c] = the votes for target c of the trees of range s for row n of src, added up, or
// the least or the greatest of them (src/problems/classical.hpp says what the words of a tree mean).
//
//   src    NF    n*F + f                dst    SNC   (s*N + n)*C + c
//   nodes, roots, votes   words, one after the other
//
//             trees of range s ->
//        n  [ x x x x x x x ]     one work-item: ROWS rows and all trees of a range, one tree after the other. The
//           [ x x x x x x x ]     rows walk a tree side by side, a step each in turn: their loads do not wait for one
//      n+3  [ x x x x x x x ]     another. A leaf leads to itself, so that rows that have arrived stay there
//
// Each element of dst belongs to one work-item, which takes its trees in their order: the result never varies.
// Rows take 32,768 work-items of the first dimension at most; in the second the ranges follow one another, once for
// each so many.
//
// Tunables: ROWS, rows of a work-item, 1 in trees.rows, for a few rows on CPUs; LOCAL, work-items of a work-group.
// Assumes: words of nodes, elements of src and of dst are countable in 31 bits.
#if WORDS == 4
#define THRESHOLD(p) as_double(((ulong)(uint)(p)[1] << 32) | (ulong)(uint)(p)[0])
#define PACKED(p) ((uint)(p)[2])
#define VOTE_WORDS 3
#else
#define THRESHOLD(p) as_float((int)(p)[0])
#define PACKED(p) ((uint)(p)[1])
#define VOTE_WORDS 2
#endif
#if WORDS == 2
#define FEATURE(packed) (((packed) >> 4) & mask)
#define CHILD(p, packed) ((int)((packed) >> shift))
#else
#define FEATURE(packed) ((packed) >> 4)
#define CHILD(p, packed) ((int)(p)[WORDS - 1])
#endif
#if COMBINE == 0
#define NO_VOTE 0
#define WITH(sum, vote) ((sum) + (vote))
#elif COMBINE == 1
#define NO_VOTE INFINITY
#define WITH(sum, vote) ((vote) < (sum) ? (vote) : (sum))
#else
#define NO_VOTE (-INFINITY)
#define WITH(sum, vote) ((vote) > (sum) ? (vote) : (sum))
#endif

__kernel ATTRIBUTES void walk(ARGUMENTS) {
  const uint first = (uint)(get_global_id(1) / S * get_global_size(0) + get_global_id(0)) * ROWS;
  const int s = get_global_id(1) % S;
  if (first >= (uint)N) return;
  const int n0 = first;
  const int range = (T + S - 1) / S;
  const int end = min((s + 1) * range, T);
  const uint mask = (1u << B) - 1u;
  const int shift = 4 + B;
  __global const TYPE_src* rows = src + n0 * F;
  const int last = min(ROWS, N - n0) - 1;
#if ONE
  TYPE_acc sums[ROWS];
  for (int r = 0; r < ROWS; ++r) sums[r] = NO_VOTE;
#else
  __global TYPE_dst* sums = dst + (s * N + n0) * C;
  for (int i = 0; i < (last + 1) * C; ++i) sums[i] = NO_VOTE;
#endif
  for (int t = s * range; t < end; ++t) {
    __global const TYPE_nodes* tree = nodes + (int)roots[2 * t] * WORDS;
    const int depth = roots[2 * t + 1];
    int places[ROWS];
    for (int r = 0; r < ROWS; ++r) places[r] = 0;
    for (int d = 0; d < depth; ++d) {
      int moved = 0;
      for (int r = 0; r < ROWS; ++r) {
        __global const TYPE_nodes* record = tree + places[r] * WORDS;
        const TYPE_src threshold = THRESHOLD(record);
        const uint packed = PACKED(record);
        // Rows behind the last are the last once more.
        const TYPE_src x = rows[min(r, last) * F + (int)FEATURE(packed)];
        const uint outcome = x < threshold ? 0u : x == threshold ? 1u : x > threshold ? 2u : 3u;
        const int next = CHILD(record, packed) + (int)((packed & 15u) >> outcome & 1u);
        moved |= next ^ places[r];
        places[r] = next;
      }
      if (moved == 0) break;
    }
#if ONE
    for (int r = 0; r < ROWS; ++r) {
      const TYPE_acc vote = THRESHOLD(tree + places[r] * WORDS);
      sums[r] = WITH(sums[r], vote);
    }
#else
    for (int r = 0; r <= last; ++r) {
      int v = tree[places[r] * WORDS];
      int head;
      do {
        head = votes[v];
        const TYPE_acc vote = THRESHOLD(votes + v + 1);
        const int at = r * C + (head >> 1);
        sums[at] = WITH(sums[at], vote);
        v += VOTE_WORDS;
      } while ((head & 1) != 0);
    }
#endif
  }
#if ONE
  for (int r = 0; r <= last; ++r) dst[s * N + n0 + r] = sums[r];
#endif
}
#undef THRESHOLD
#undef PACKED
#undef VOTE_WORDS
#undef FEATURE
#undef CHILD
#undef NO_VOTE
#undef WITH
