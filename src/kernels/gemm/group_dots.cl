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
// way. Each work-item starts UNROLL * PATCH of them from lhs before it needs the first. It computes PATCH rows, ROWS
// apart from each other, with the same vectors of rhs; a row has LANES work-items, which are LANES * ROWS to a
// work-group. In the end the sums of a row's work-items are added up in local memory, halving their number each time.
//
// Edges: in place of rows that do not exist row M - 1 is read.
//
// Tunables: LANES of a row (a power of 2), ROWS side by side in a work-group, PATCH rows of a work-item, UNROLL.
// Assumes: both operands are zero where k >= K; K_pad is a multiple of 4.
__kernel ATTRIBUTES void group_dots(ARGUMENTS) {
  __local float parts[PATCH * ROWS][LANES];
  const int lane = get_local_id(0);
  const int row = get_local_id(1);
  const int m0 = get_group_id(1) * (PATCH * ROWS) + row;
  const int n = get_group_id(0);
  const int vectors = K_pad / 4;
  __global const float4* left[PATCH];
  float4 sum[PATCH];
#pragma unroll
  for (int p = 0; p < PATCH; ++p) {
    left[p] = (__global const float4*)lhs + (ulong)min(m0 + p * ROWS, M - 1) * vectors;
    sum[p] = (float4)(0.0f);
  }
  __global const float4* right = (__global const float4*)rhs + (ulong)n * vectors;
  // The last ones are under way at once too: what lies beyond the end is read from the end, and not added.
  for (int v = lane; v < vectors; v += UNROLL * LANES) {
    float4 a[PATCH][UNROLL];
    float4 b[UNROLL];
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
      const int at = min(v + i * LANES, vectors - 1);
      b[i] = right[at];
#pragma unroll
      for (int p = 0; p < PATCH; ++p) a[p][i] = left[p][at];
    }
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
      if (v + i * LANES >= vectors) continue;
#pragma unroll
      for (int p = 0; p < PATCH; ++p) sum[p] += a[p][i] * b[i];
    }
  }
#pragma unroll
  for (int p = 0; p < PATCH; ++p) {
    parts[p * ROWS + row][lane] = sum[p].x + sum[p].y + sum[p].z + sum[p].w;
  }
  for (int half_lanes = LANES / 2; half_lanes > 0; half_lanes /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < half_lanes) {
#pragma unroll
      for (int p = 0; p < PATCH; ++p) {
        parts[p * ROWS + row][lane] += parts[p * ROWS + row][lane + half_lanes];
      }
    }
  }
  if (lane != 0) return;
#pragma unroll
  for (int p = 0; p < PATCH; ++p) {
    const int m = m0 + p * ROWS;
    if (m < M) dst[m * N + n] = EPILOGUE(parts[p * ROWS + row][0], m, n);
  }
}
