// SPDX-License-Identifier: Apache-2.0
//
// gemm.sliced: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]), for products that are too small to fill a GPU
// with tiles: each work-group divides K among its work-items as well.
//
//   lhs  R   m*K_pad + k
//   rhs  R   k*N + n
//   dst  R   m*N + n
//
//                     n0 ... n0 + LANES - 1          a work-group: PATCH rows x LANES columns of dst
//              k 0   [ slice 0 ]
//                8   [ slice 1 ]                     work-item (lane, slice): PATCH rows of column n0 + lane, of
//                    [  ...    ]                     every SLICES-th 8 of K
//       8*SLICES     [ slice 0 ]
//                    [  ...    ]                     in the end the slices' sums are added up in local memory
//
// What counts is how many loads are under way. A work-item starts 8 loads of rhs, which its neighbours
// continue, and 2 * PATCH vectors of lhs, which are the same for all lanes, before it needs the first.
//
// Products with more than 256 terms for each work-item are left to gemm.split_k: they wait too long here.
//
// Edges: in place of rows and columns that do not exist the last one is read.
//
// Tunables: LANES columns of a work-group, SLICES of K, PATCH rows.
// Assumes: lhs is zero and rhs finite where k >= K; K_pad is a multiple of 8.
#define DEPTH 8

__kernel ATTRIBUTES void sliced(ARGUMENTS) {
  __local float parts[SLICES][PATCH][LANES];
  const int lane = get_local_id(0);
  const int slice = get_local_id(1);
  const int n = get_group_id(0) * LANES + lane;
  const int m0 = get_group_id(1) * PATCH;
  __global const float* right = rhs + min(n, N - 1);
  __global const float4* left[PATCH];
  float sum[PATCH];
#pragma unroll
  for (int p = 0; p < PATCH; ++p) {
    left[p] = (__global const float4*)lhs + (ulong)min(m0 + p, M - 1) * (K_pad / 4);
    sum[p] = 0.0f;
  }
  for (int k = slice * DEPTH; k < K_pad; k += SLICES * DEPTH) {
    float b[DEPTH];
    float4 a[PATCH][2];
#pragma unroll
    for (int i = 0; i < DEPTH; ++i) b[i] = right[(k + i) * N];
#pragma unroll
    for (int p = 0; p < PATCH; ++p) {
      a[p][0] = left[p][k / 4];
      a[p][1] = left[p][k / 4 + 1];
    }
#pragma unroll
    for (int p = 0; p < PATCH; ++p) {
      sum[p] += a[p][0].s0 * b[0] + a[p][0].s1 * b[1] + a[p][0].s2 * b[2] + a[p][0].s3 * b[3];
      sum[p] += a[p][1].s0 * b[4] + a[p][1].s1 * b[5] + a[p][1].s2 * b[6] + a[p][1].s3 * b[7];
    }
  }
#pragma unroll
  for (int p = 0; p < PATCH; ++p) parts[slice][p][lane] = sum[p];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (n >= N) return;
  for (int p = slice; p < PATCH && m0 + p < M; p += SLICES) {
    float whole = parts[0][p][lane];
#pragma unroll
    for (int s = 1; s < SLICES; ++s) whole += parts[s][p][lane];
    dst[(ulong)(m0 + p) * N + n] = EPILOGUE(whole, m0 + p, n);
  }
}
#undef DEPTH
