// SPDX-License-Identifier: Apache-2.0
//
// sigmoid.morton_4_2_4x16: dst[m,n] = 1 / (1 + exp(-src[m,n])) in the layout of gemm.morton_4_2's result.
//
//   src, dst  C_4_2_C   (n/2)*(M_pad*2) + (m/4)*8 + (n%2)*4 + m%4
//
//            n n+1
//       m    0  4        one work-item: one tile of 4 x 2, which is two vectors; a work-group takes a
//            1  5        stretch of the matrix that is nearly square
//            2  6
//      m+3   3  7
//
// Assumes: M_pad and N_pad are multiples of 16 and 32; the padding of src is finite, and so is what is
// left in that of dst (one half where it was zero).
// Tunables: LOCAL_M, LOCAL_N, tiles of a work-group: 4 x 16 is R17's.
// Source: R17, section 9.2, "Grouped Morton 4-2".
__kernel ATTRIBUTES void sigmoid_morton_4_2(ARGUMENTS) {
  const int tile = get_global_id(1) * (M_pad / 4) + get_global_id(0);
  __global const float4* from = (__global const float4*)src + 2 * tile;
  __global float4* to = (__global float4*)dst + 2 * tile;
  to[0] = 1.0f / (1.0f + exp(-from[0]));
  to[1] = 1.0f / (1.0f + exp(-from[1]));
}
