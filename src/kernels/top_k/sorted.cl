// SPDX-License-Identifier: Apache-2.0
//
// top_k.sorted: dst[m,k,n] = all src[m,l,n] along l, the largest first, or with SMALLEST 1 the smallest; with INDICES 1
// their l in place of them. For GPUs.
//
//   src(m, l, n)   through accessors     dst  MKN   (m*K + k)*N + n
//
//        row [ CHUNK | CHUNK | ... ]     a work-group: one row. Chunks are sorted in local memory and put into dst. There
//              `--merged--'              runs of them are compared; what is left to do within chunks is done in local
//                                        memory again
//
// Of equal elements the first comes first. A NaN comes before every number where the largest are wanted, and after
// it where the smallest are.
//
// Tunables: LOCAL, work-items of a work-group; CHUNK, elements in local memory (a power of 2).
// Assumes: elements of dst are countable in 31 bits.
#define PLACE(k) ((m * K + (k)) * N + n)
#if INDICES
#define HELD int
#define HELD_OF(i) places[i]
#define PLACE_OF(held, i) (held)
#define VALUE(held) LOAD_src(m, held, n)
#define IS_LATER(a, value_a, b, value_b) \
  (BEFORE(value_b, value_a) || ((a) > (b) && !BEFORE(value_a, value_b)))
#else
#define HELD TYPE_src
#define HELD_OF(i) values[i]
#define PLACE_OF(held, i) (i)
#define VALUE(held) (held)
#define IS_LATER(a, value_a, b, value_b) BEFORE(value_b, value_a)
#endif
// As compare_chunk, in dst.
#define COMPARE_ROW(half_run, across)                                \
  for (int pair = item; low_of(pair, half_run) < L; pair += LOCAL) { \
    const int low = low_of(pair, half_run);                          \
    const int high = low ^ (across);                                 \
    if (high >= L) continue;                                         \
    const HELD held_low = AT_dst(PLACE(low));                        \
    const HELD held_high = AT_dst(PLACE(high));                      \
    const TYPE_src value_low = VALUE(held_low);                      \
    const TYPE_src value_high = VALUE(held_high);                    \
    if (IS_LATER(held_low, value_low, held_high, value_high)) {      \
      PUT_dst(PLACE(low), (TYPE_dst)held_high);                      \
      PUT_dst(PLACE(high), (TYPE_dst)held_low);                      \
    }                                                                \
  }                                                                  \
  barrier(CLK_GLOBAL_MEM_FENCE);

__kernel ATTRIBUTES void sorted(ARGUMENTS) {
  __local TYPE_src values[CHUNK];
  __local int places[CHUNK];
  const int item = get_local_id(0);
  // The whole work-group goes round together, since it meets at barriers.
  for (int r = get_group_id(1); r < M * N; r += get_num_groups(1)) {
    const int m = r / N;
    const int n = r % N;
    for (int first = 0; first < L; first += CHUNK) {
      const int count = min(CHUNK, L - first);
      for (int i = item; i < count; i += LOCAL) {
        values[i] = LOAD_src(m, first + i, n);
        places[i] = first + i;
      }
      sort_chunk(values, places, item, count);
      for (int i = item; i < count; i += LOCAL) PUT_dst(PLACE(first + i), (TYPE_dst)HELD_OF(i));
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    for (int half_run = CHUNK; half_run < L; half_run *= 2) {
      COMPARE_ROW(half_run, 2 * half_run - 1)
      for (int part = half_run / 2; part >= CHUNK; part /= 2) {
        COMPARE_ROW(part, part)
      }
      for (int first = 0; first < L; first += CHUNK) {
        const int count = min(CHUNK, L - first);
        for (int i = item; i < count; i += LOCAL) {
          const HELD held = AT_dst(PLACE(first + i));
          values[i] = VALUE(held);
          places[i] = PLACE_OF(held, i);
        }
        merge_chunk(values, places, item, count, CHUNK / 2);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = item; i < count; i += LOCAL) PUT_dst(PLACE(first + i), (TYPE_dst)HELD_OF(i));
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
      }
    }
  }
}
#undef PLACE
#undef HELD
#undef HELD_OF
#undef PLACE_OF
#undef VALUE
#undef IS_LATER
#undef COMPARE_ROW
