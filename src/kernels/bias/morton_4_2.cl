// SPDX-License-Identifier: Apache-2.0
//
// bias.morton_4_2, bias.morton_4_2_1x16: dst[m,n] = src[m,n] + bias[m] in the layout of gemm.morton_4_2's
// result.
//
//   src, dst  C_4_2_C   (n/2)*(M_pad*2) + (m/4)*8 + (n%2)*4 + m%4
//   bias      M         m
//
//            n n+1
//       m    0  4        one work-item: one tile of 4 x 2, which is two vectors, one for each column,
//            1  5        and both get the same vector of the bias
//            2  6
//      m+3   3  7
//
// Assumes: M_pad and N_pad are multiples of 8 and 32, as that product leaves them; the padding of src and
// bias is finite, and so is what is left in that of dst.
// Tunables: LOCAL_N, tiles of a work-group along n: 1 x 16 is R17's.
// Source: R17, section 9.1, "Morton 4-2" and "Grouped Morton 4-2". Its appendix, source 12.6, indexes
// another layout (C_4_4_C) and is not vectorised; this is what the section describes.
__kernel ATTRIBUTES void bias_morton_4_2(ARGUMENTS) {
  const int quad = get_global_id(0);
  const int pair = get_global_id(1);
  const int tile = pair * (M_pad / 4) + quad;
  const float4 added = ((__global const float4*)bias)[quad];
  ((__global float4*)dst)[2 * tile] = ((__global const float4*)src)[2 * tile] + added;
  ((__global float4*)dst)[2 * tile + 1] = ((__global const float4*)src)[2 * tile + 1] + added;
}
