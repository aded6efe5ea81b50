// SPDX-License-Identifier: Apache-2.0
//
// gemm.rm_cm_blocked: dst[m,n] = sum over k of lhs[m,k] * rhs[k,n], a patch of 2 x 2 for each work-item.
//
//   lhs  R   m*K_pad + k
//   rhs  C   n*K_pad + k
//   dst  C   n*M_pad + m
//
//                        rhs    n n+1
//                            k  0 0
//                            .  1 1        each step: two vectors from either side, four dot products; a
//                            .  2 2        value that is loaded serves two results
//        lhs  k . . .       +3  3 3
//          m  0 1 2 3         [x x]
//        m+1  0 1 2 3         [x x]
//
// A work-group of 4 x 16 work-items covers a tile of 8 rows x 32 columns: 2*(4+16) = 40 lines of cache
// are begun together every four steps, which gemm.morton_4_2 spreads out. This is the best published
// kernel for the Mali T-628 that R17 starts from.
//
// Assumes: M_pad, N_pad, K_pad are multiples of 8, 32, 4; lhs is zero where k >= K, rhs finite there.
// Tunables: none.
// Source: R17, section 7.4.2 and appendix 12.3, after Gronqvist and Lokhmotov's sgemm for Mali.
__kernel ATTRIBUTES void rm_cm_blocked(ARGUMENTS) {
  const int row_pair = get_global_id(0);
  const int column_pair = get_global_id(1);
  const int quads = K_pad / 4;
  __global const float4* rows = (__global const float4*)lhs + 2 * row_pair * quads;
  __global const float4* columns = (__global const float4*)rhs + 2 * column_pair * quads;
  float4 patch = (float4)(0.0f);  // (0,0) (1,0) (0,1) (1,1)
  for (int i = 0; i < quads; ++i) {
    const float4 upper = rows[i];
    const float4 lower = rows[quads + i];
    const float4 left = columns[i];
    const float4 right = columns[quads + i];
    patch += (float4)(dot(upper, left), dot(lower, left), dot(upper, right), dot(lower, right));
  }
  __global float2* pairs = (__global float2*)dst + 2 * column_pair * (M_pad / 2) + row_pair;
  pairs[0] = patch.lo;
  pairs[M_pad / 2] = patch.hi;
}
