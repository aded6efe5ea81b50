// SPDX-License-Identifier: Apache-2.0
//
// sum.runs and sum.single: dst[m,n] = EPILOGUE(sum over b of src[b,m,n]), for any formats.
//
//   src(b, m, n), dst(m, n)   through accessors
//
//            n0      n0+RUN
//        m  [ x x x x ]       one work-item: RUN neighbours of a row, for each of which it adds the
//             + + + +         elements of all b in their order; runs are counted row by row and
//           [ x x x x ]       spread over two dimensions of 32,768 at most
//             + + + +
//           [ x x x x ]
//
// What a row has left after its last whole run is added element by element.
//
// The two differ in their standard values: a CPU reads a run as one vector, and neighbouring
// work-items of a GPU read neighbouring elements.
//
// Tunables: RUN; LOCAL, work-items of a work-group.
__kernel ATTRIBUTES void runs(ARGUMENTS) {
  const uint runs_of_row = (uint)(N + RUN - 1) / RUN;
  const uint run = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (run >= (uint)M * runs_of_row) return;
  const int m = run / runs_of_row;
  const int n0 = run % runs_of_row * RUN;
  if (n0 + RUN <= N) {
    TYPE_acc sum[RUN];
#pragma unroll
    for (int i = 0; i < RUN; ++i) sum[i] = 0;
    for (int b = 0; b < B; ++b) {
#pragma unroll
      for (int i = 0; i < RUN; ++i) sum[i] += LOAD_src(b, m, n0 + i);
    }
#pragma unroll
    for (int i = 0; i < RUN; ++i) STORE_dst(m, n0 + i, EPILOGUE(sum[i], m, n0 + i));
    return;
  }
  for (int n = n0; n < N; ++n) {
    TYPE_acc sum = 0;
    for (int b = 0; b < B; ++b) sum += LOAD_src(b, m, n);
    STORE_dst(m, n, EPILOGUE(sum, m, n));
  }
}
