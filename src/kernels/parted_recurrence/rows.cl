// SPDX-License-Identifier: Apache-2.0
//
// parted_recurrence.rows: dst[s,t,n,u] = the states of T steps of N sequences (src/problems/sequences/recurrence.hpp), for CPUs
// with more cores than sequences. W work-groups share the units of a sequence.
//
//   sums     TNGU           ((t*N + n)*G + g)*U_pad + u
//   weights  UKG{LANES}u    as of recurrence.rows
//   bias     R              g*U_pad + u
//   first    PNU            (p*N + n)*U_pad + u
//   marks    R              ((part*N + n)*2 + phase)*T + t, zeros at the start
//   dst      STNU           ((s*T + t)*N + n)*U_pad + u
//
//                 part 0             part 1
//   step t     [ group 0 ]        [ group 1 ]      a group computes its own part first, and marks it; then it looks for the
//              [ mark ]   <-----> [ mark ]         others' marks, PATIENCE times, and computes what has none itself
//   step t+1   [ group 0 ]        [ group 1 ]      it reads the states of step t, whoever wrote them
//
// So no group depends on another's progress, which OpenCL 1.2 does not promise. The groups of a part write the same numbers,
// in whichever order they run. One that comes late finds its parts marked and passes by them.
//
// Tunables: LANES, floats of a vector; PATCH, 1 sequence; PATIENCE, looks at a mark: some 0.1 ms. It is 1 while that part has been late.
// Assumes: what a work-item writes before mem_fence and an atomic on a mark is seen by one that finds the mark by an
// atomic. Caches of CPUs are coherent. Elements of dst, sums and weights are countable in 31 bits.
// STEP_OF(1) for the units of each part that has no mark.
#define EACH_PART(STEP_OF, phase)                                                                        \
  for (int i = 0; i < W; ++i) {                                                                          \
    const int part = (own + i) % W;                                                                      \
    volatile __global int* mark = (volatile __global int*)marks + ((part * N + n) * 2 + (phase)) * T + t; \
    const bool is_done = is_marked(mark, part == own || late >> part & 1 ? 1 : PATIENCE);                 \
    late = is_done ? late & ~(1u << part) : late | 1u << part;                                           \
    if (is_done) continue;                                                                               \
    const int end = share(U_pad / LANES, part + 1, W) * LANES;                                           \
    for (int u = share(U_pad / LANES, part, W) * LANES; u < end; u += LANES) STEP_OF(1)                  \
    mem_fence(CLK_GLOBAL_MEM_FENCE);                                                                     \
    atomic_or(mark, 1);                                                                                  \
  }

__kernel ATTRIBUTES void parted_rows(ARGUMENTS) {
  const int n = get_global_id(0) / W;
  const int own = get_global_id(0) % W;
  uint late = 0;  // parts that others have not computed, by their bits
  int before = -1;
  for (int step = 0; step < T; ++step) {
    const int t = REVERSE ? T - 1 - step : step;
#if CELL == 2
    EACH_PART(RESET_GATES, 1)
#endif
    EACH_PART(STEP, 0)
    before = t;
  }
}
