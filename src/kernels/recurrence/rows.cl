// SPDX-License-Identifier: Apache-2.0
//
// recurrence.rows: dst[s,t,n,u] = the states of T steps of N sequences (src/problems/sequences/recurrence.hpp), for CPUs.
//
//   sums     TNGU           ((t*N + n)*G + g)*U_pad + u
//   weights  UKG{LANES}u    ((u/LANES*K + k)*G + g)*LANES + u%LANES: what a vector of units needs lies in a row
//   bias     R              g*U_pad + u
//   first    PNU            (p*N + n)*U_pad + u
//   dst      STNU           ((s*T + t)*N + n)*U_pad + u
//
//                  u ... u + LANES - 1
//   h[n,k]   x   [ gate 0 ][ gate 1 ][ ... ]  k         a work-item: neighbouring sequences, all of their steps.
//   h[n+1,k] x   [ gate 0 ][ gate 1 ][ ... ]  k+1       PATCH of them at a time share the weights that are loaded; what
//                    ...                                is left over is taken one by one
//
// The state that a step reads is the row of dst that the step before it wrote.
//
// Edges: units that do not exist are computed from padding, and no other unit reads them.
//
// Tunables: LANES, floats of a vector; PATCH sequences whose sums are in registers, G vectors each.
// Assumes: elements of dst, sums and weights are countable in 31 bits.
__kernel ATTRIBUTES void rows(ARGUMENTS) {
  const int n0 = share(N, get_global_id(0), get_global_size(0));
  const int end = share(N, get_global_id(0) + 1, get_global_size(0));
  int before = -1;
  for (int i = 0; i < T; ++i) {
    const int t = REVERSE ? T - 1 - i : i;
#if CELL == 2
    EACH_PATCH(RESET_GATES)
#endif
    EACH_PATCH(STEP)
    before = t;
  }
}
