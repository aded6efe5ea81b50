// SPDX-License-Identifier: Apache-2.0
//
// gemm.morton_4_2_rm: dst[m,n] = sum over k of lhs[m,k] * rhs[k,n]: gemm.morton_4_2 with a row-major
// result, for a reader that is no product (a convolution's feature maps).
//
//   lhs  R_2_4_R   (m/2)*(2*K_pad) + (k/4)*8 + (m%2)*4 + k%4
//   rhs  C_4_2_C   (n/2)*(2*K_pad) + (k/4)*8 + (n%2)*4 + k%4
//   dst  R         m*N_pad + n
//
//                         rhs   n n+1            the numbers are offsets within a run
//                             k  0 4
//                             .  1 5
//                             .  2 6
//        lhs  k . . .        +3  3 7
//          m  0 1 2 3           [patch]          its two rows are stored N_pad apart
//        m+1  4 5 6 7           [2 x 2]
//
// A work-group of 4 x 16 work-items covers a tile of 8 rows x 32 columns of dst.
//
// Assumes: M_pad, N_pad and K_pad are multiples of 8, 32 and 4; lhs is zero wherever k >= K, rhs finite.
// Tunables: none.
// Source: R18, section 7.3 (the product inside its convolution); R17, appendix 12.7.
__kernel ATTRIBUTES void morton_4_2_rm(ARGUMENTS) {
  const int row_pair = get_global_id(0);
  const int column_pair = get_global_id(1);
  __global const float4* rows = (__global const float4*)lhs + row_pair * (K_pad / 2);
  __global const float4* columns = (__global const float4*)rhs + column_pair * (K_pad / 2);
  float4 patch = (float4)(0.0f);  // (0,0) (0,1) (1,0) (1,1)
  for (int i = 0; i < K_pad / 2; i += 2) {
    const float4 upper = rows[i];
    const float4 lower = rows[i + 1];
    const float4 left = columns[i];
    const float4 right = columns[i + 1];
    patch += (float4)(dot(upper, left), dot(upper, right), dot(lower, left), dot(lower, right));
  }
  __global float2* pairs = (__global float2*)dst + row_pair * N_pad + column_pair;
  pairs[0] = patch.lo;
  pairs[N_pad / 2] = patch.hi;
}
