// SPDX-License-Identifier: Apache-2.0
//
// top_k.heap: dst[m,k,n] = the K largest src[m,l,n] along l in their order, or with SMALLEST 1 the K smallest; with
// INDICES 1 their l in place of them. For many results.
//
//   src(m, l, n)   through accessors     dst  MKN   (m*K + k)*N + n: a heap in the making
//
//             7           one work-item: one row along l. The first K of src become a heap in dst, whose top is the last
//          8     9        of them in their order. Each further one that comes before the top takes its place. In the
//         9 8   9         end the top changes places with the last of the heap, which then is one shorter, until none
//                         is left. Rows are counted along n, then m, and spread over two dimensions of 32,768 at most
//
// Where most elements are wanted, those that equal the last value are left out of the heap. They follow in their order:
// scores that a threshold has masked are many, and all alike.
//
// Of equal elements the first comes first. A NaN comes before every number where the largest are wanted, and after
// it where the smallest are.
//
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits.
#define PLACE(k) ((m * K + (k)) * N + n)
#if INDICES
#define HELD int
#define HELD_AT(l) (l)
#define VALUE(held) LOAD_src(m, held, n)
#define IS_LATER(a, value_a, b, value_b) \
  (BEFORE(value_b, value_a) || ((a) > (b) && !BEFORE(value_a, value_b)))
#else
#define HELD TYPE_src
#define HELD_AT(l) LOAD_src(m, l, n)
#define VALUE(held) (held)
#define IS_LATER(a, value_a, b, value_b) BEFORE(value_b, value_a)
#endif
// Puts `held` into the heap of `size`, at `top` or below: those below that are later move up.
#define SINK(held, top, size)                                                        \
  {                                                                                  \
    const TYPE_src value = VALUE(held);                                              \
    int hole = top;                                                                  \
    for (int below = 2 * hole + 1; below < (size); below = 2 * hole + 1) {           \
      HELD later = AT_dst(PLACE(below));                                             \
      TYPE_src later_value = VALUE(later);                                           \
      if (below + 1 < (size)) {                                                      \
        const HELD other = AT_dst(PLACE(below + 1));                                 \
        const TYPE_src other_value = VALUE(other);                                   \
        const int is_other = IS_LATER(other, other_value, later, later_value);       \
        later = is_other ? other : later;                                            \
        later_value = is_other ? other_value : later_value;                          \
        below += is_other;                                                           \
      }                                                                              \
      if (!IS_LATER(later, later_value, held, value)) break;                         \
      PUT_dst(PLACE(hole), (TYPE_dst)later);                                         \
      hole = below;                                                                  \
    }                                                                                \
    PUT_dst(PLACE(hole), (TYPE_dst)held);                                            \
  }

__kernel ATTRIBUTES void heap(ARGUMENTS) {
  ROW_OF_ITEM(m, n)
  if (K == 0) return;
  // The last value of all, where most elements are wanted: those that equal it need no heap.
  const int is_apart = 4 * (long)K > L;
  TYPE_src worst = LOAD_src(m, 0, n);
  for (int l = 1; is_apart && l < L; ++l) {
    const TYPE_src value = LOAD_src(m, l, n);
    worst = BEFORE(worst, value) ? value : worst;
  }
  int size = 0;
  int l = 0;
  for (; l < L && size < K; ++l) {
    if (is_apart && !BEFORE(LOAD_src(m, l, n), worst)) continue;
    PUT_dst(PLACE(size), (TYPE_dst)HELD_AT(l));
    ++size;
  }
  for (int top = size / 2 - 1; top >= 0; --top) {
    const HELD sinking = AT_dst(PLACE(top));
    SINK(sinking, top, size)
  }
  HELD top_held = HELD_AT(0);
  if (size != 0) top_held = AT_dst(PLACE(0));
  TYPE_src last = size == 0 ? worst : VALUE(top_held);
  for (; l < L; ++l) {
    if (!BEFORE(LOAD_src(m, l, n), last)) continue;
    const HELD sinking = HELD_AT(l);
    SINK(sinking, 0, size)
    top_held = AT_dst(PLACE(0));
    last = VALUE(top_held);
  }
  for (int end = size - 1; end > 0; --end) {
    const HELD sinking = AT_dst(PLACE(end));
    const HELD first = AT_dst(PLACE(0));
    PUT_dst(PLACE(end), (TYPE_dst)first);
    SINK(sinking, 0, end)
  }
  for (l = 0; size < K; ++l) {
    if (BEFORE(LOAD_src(m, l, n), worst)) continue;
    PUT_dst(PLACE(size), (TYPE_dst)HELD_AT(l));
    ++size;
  }
}
#undef PLACE
#undef HELD
#undef HELD_AT
#undef VALUE
#undef IS_LATER
#undef SINK
