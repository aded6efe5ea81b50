// SPDX-License-Identifier: Apache-2.0
//
// gemm.morton_4_2: dst[m,n] = sum over k of lhs[m,k] * rhs[k,n].
//
// A work-item computes a patch of 2 x 2 elements. In each step of four k it reads 2 x 4 elements of
// lhs and 4 x 2 of rhs, and each of the two is one run of 8 elements in memory:
//
//   lhs  R_2_4_R   (m/2)*(2*K_pad) + (k/4)*8 + (m%2)*4 + k%4
//   rhs  C_4_2_C   (n/2)*(2*K_pad) + (k/4)*8 + (n%2)*4 + k%4
//   dst  C_4_2_C   (n/2)*(2*M_pad) + (m/4)*8 + (n%2)*4 + m%4
//
//                         rhs   n n+1            the numbers are offsets within a run
//                             k  0 4
//                             .  1 5
//                             .  2 6             dst is laid out as rhs is, so it is the rhs of the
//        lhs  k . . .        +3  3 7             next layer's product without repacking; two
//          m  0 1 2 3           [patch]          patches, one above the other, fill one of its runs
//        m+1  4 5 6 7           [2 x 2]
//
// A work-group of 4 x 16 work-items covers a tile of 8 rows x 32 columns of dst.
//
// Assumes: M_pad, N_pad and K_pad are multiples of 8, 32 and 4; lhs is zero wherever k >= K, so that
// the (finite) values of rhs there count nothing. Leaves finite values in the padding of dst.
//
// Tunables: none.
// Source: R17, section 8.4 and appendix 12.7.
__kernel ATTRIBUTES void morton_4_2(int K_pad, int M_pad, __global const float* restrict lhs,
                                    __global const float* restrict rhs,
                                    __global float* restrict dst) {
  const int row_pair = get_global_id(0);
  const int column_pair = get_global_id(1);
  __global const float4* lhs_run = (__global const float4*)lhs + row_pair * (K_pad / 2);
  __global const float4* rhs_run = (__global const float4*)rhs + column_pair * (K_pad / 2);

  float4 patch = (float4)(0.0f);  // (0,0) (1,0) (0,1) (1,1): a column's elements are neighbours
  for (int i = 0; i < K_pad / 2; i += 2) {
    const float4 upper = lhs_run[i];
    const float4 lower = lhs_run[i + 1];
    const float4 left = rhs_run[i];
    const float4 right = rhs_run[i + 1];
    patch += (float4)(dot(upper, left), dot(lower, left), dot(upper, right), dot(lower, right));
  }

  __global float2* dst_run =
      (__global float2*)dst + column_pair * M_pad + (row_pair / 2) * 4 + row_pair % 2;
  dst_run[0] = patch.lo;
  dst_run[2] = patch.hi;
}
