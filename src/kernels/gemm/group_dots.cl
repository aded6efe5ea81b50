// SPDX-License-Identifier: Apache-2.0
//
// gemm.group_dots: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]), for GPUs: many work-items for each
// element. It is made for a matrix times a vector.
//
//   lhs  R   m*K_pad + k
//   rhs  C   n*K_pad + k
//   dst  R   m*N + n
//
//              k 0      4      8             4*LANES
//   rhs  n     [ lane 0 | lane 1 | lane 2 ... | lane 0 | ... ]    LANES work-items walk along a row of lhs and a
//   lhs  m     [ lane 0 | lane 1 | lane 2 ... | lane 0 | ... ]    column of rhs, four numbers each at a time, so
//        m+1   [ lane 0 | ...                                     that neighbours read neighbouring vectors
//
// Where N is 1, each number of lhs is used once and memory is the limit: what counts is how many loads are under
// way. Each work-item starts UNROLL of them before it needs the first, and each row has work-items of its own, which
// are ROWS * LANES to a work-group. In the end the sums of a row's work-items are added up in local memory,
// halving their number each time.
//
// Edges: in place of rows that do not exist row M - 1 is read.
//
// Tunables: LANES of a row (a power of 2), ROWS of a work-group, UNROLL.
// Assumes: both operands are zero where k >= K; K_pad is a multiple of 4.
__kernel ATTRIBUTES void group_dots(ARGUMENTS) {
  __local float parts[ROWS][LANES];
  const int lane = get_local_id(0);
  const int row = get_local_id(1);
  const int m = get_group_id(1) * ROWS + row;
  const int n = get_group_id(0);
  const int vectors = K_pad / 4;
  __global const float4* left = (__global const float4*)lhs + min(m, M - 1) * vectors;
  __global const float4* right = (__global const float4*)rhs + n * vectors;
  float4 sum = (float4)(0.0f);
  int v = lane;
  for (; v + (UNROLL - 1) * LANES < vectors; v += UNROLL * LANES) {
    float4 a[UNROLL];
    float4 b[UNROLL];
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
      a[i] = left[v + i * LANES];
      b[i] = right[v + i * LANES];
    }
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) sum += a[i] * b[i];
  }
  for (; v < vectors; v += LANES) sum += left[v] * right[v];
  parts[row][lane] = sum.x + sum.y + sum.z + sum.w;
  for (int half_lanes = LANES / 2; half_lanes > 0; half_lanes /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < half_lanes) parts[row][lane] += parts[row][lane + half_lanes];
  }
  if (lane == 0 && m < M) dst[m * N + n] = EPILOGUE(parts[row][0], m, n);
}
