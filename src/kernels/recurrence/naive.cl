// SPDX-License-Identifier: Apache-2.0
//
// recurrence.naive: dst[s,t,n,u] = the states of T steps of N sequences (src/problems/sequences/recurrence.hpp), on any device.
//
//   sums(t, n, g, u), bias(g, u), first(p, n, u), lengths(n)   through accessors
//   weights  KGU    (k*G + g)*U + u
//   dst      STNU   ((s*T + t)*N + n)*U + u
//
//                 u ... u + LOCAL - 1
//        h[k] x [ gate 0 ][ gate 1 ]  k       a work-group: one sequence, all of its steps; no other waits for it
//               [ gate 0 ][ gate 1 ]  k+1     a work-item: every LOCAL-th unit, the sums of its gates
//                  ...                        between two steps a barrier: dst holds the state that the next one reads
//
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements of dst and of weights are countable in 31 bits.
#define SIGMOID(x) (0.5f * tanh(0.5f * (x)) + 0.5f)
#define GATES (CELL == 4 ? 4 : CELL >= 2 ? 3 : 1)
// Part s of the state before step t: `before` is the step before it, or none.
#define STATE(s, k) (before < 0 ? LOAD_first(s, n, k) : AT_dst(((s) * T + before) * N * U + n * U + (k)))
#define PLACE(s) (((s) * T + t) * N * U + n * U + u)
// The sums of gates `from` to before `to` for unit u, of what is multiplied by the weights.
#define ADD_UP(from, to, factor)                                                                       \
  for (int g = (from); g < (to); ++g) sum[g] = LOAD_bias(g, u);                                        \
  for (int k = 0; k < U; ++k) {                                                                        \
    const float h = factor;                                                                            \
    for (int g = (from); g < (to); ++g) sum[g] += AT_weights((k * GATES + g) * U + u) * h;             \
  }

__kernel ATTRIBUTES void naive(ARGUMENTS) {
  const int n = get_group_id(1) * get_num_groups(0) + get_group_id(0);
  const int item = get_local_id(0);
  const bool is_one = n < N;
  const long length = is_one ? LOAD_lengths(n) : 0;
  int before = -1;
  for (int i = 0; i < T; ++i) {
    const int t = REVERSE ? T - 1 - i : i;
    const bool is_step = t < length;
#if CELL == 2
    for (int u = item; is_one && u < U; u += LOCAL) {
      float through = STATE(0, u);
      if (is_step) {
        float sum[GATES];
        ADD_UP(1, 2, STATE(0, k))
        through *= SIGMOID(sum[1] + LOAD_sums(t, n, 1, u));
      }
      PUT_dst(PLACE(1), through);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
#endif
    for (int u = item; is_one && u < U; u += LOCAL) {
      const float old = STATE(0, u);
      float state = old;
#if CELL == 4
      float cell = STATE(1, u);
#endif
      if (is_step) {
        float sum[GATES];
#if CELL == 2
        ADD_UP(0, 1, STATE(0, k))
        ADD_UP(2, 3, AT_dst((T + t) * N * U + n * U + k))
        const float update = SIGMOID(sum[0] + LOAD_sums(t, n, 0, u));
        const float hidden = tanh(sum[2] + LOAD_sums(t, n, 2, u));
        state = (1.0f - update) * hidden + update * old;
#else
        ADD_UP(0, GATES, STATE(0, k))
#if CELL == 0
        state = tanh(sum[0] + LOAD_sums(t, n, 0, u));
#elif CELL == 1
        state = fmax(sum[0] + LOAD_sums(t, n, 0, u), 0.0f);
#elif CELL == 3
        const float update = SIGMOID(sum[0] + LOAD_sums(t, n, 0, u));
        const float reset = SIGMOID(sum[1] + LOAD_sums(t, n, 1, u));
        const float hidden = tanh(LOAD_sums(t, n, 2, u) + reset * sum[2]);
        state = (1.0f - update) * hidden + update * old;
#else
        const float taken = SIGMOID(sum[0] + LOAD_sums(t, n, 0, u));
        const float shown = SIGMOID(sum[1] + LOAD_sums(t, n, 1, u));
        const float kept = SIGMOID(sum[2] + LOAD_sums(t, n, 2, u));
        cell = kept * cell + taken * tanh(sum[3] + LOAD_sums(t, n, 3, u));
        state = shown * tanh(cell);
#endif
#endif
      }
      PUT_dst(PLACE(0), state);
#if CELL == 4
      PUT_dst(PLACE(1), cell);
#endif
    }
    before = t;
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
}
#undef SIGMOID
#undef GATES
#undef STATE
#undef PLACE
#undef ADD_UP
