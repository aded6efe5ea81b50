// SPDX-License-Identifier: Apache-2.0
//
// relu.morton_4_2_4x16: dst[m,n] = max(src[m,n], 0) in the layout of gemm.morton_4_2's result.
//
//   src, dst  C_4_2_C   (n/2)*(M_pad*2) + (m/4)*8 + (n%2)*4 + m%4
//
//            n n+1
//       m    0  4        one work-item: one tile of 4 x 2, which is two vectors
//            1  5
//            2  6        A NaN stays one.
//      m+3   3  7
//
// Assumes: M_pad and N_pad are multiples of 16 and 32; zeros in the padding stay zeros.
// Tunables: LOCAL_M, LOCAL_N, tiles of a work-group: 4 x 16 is R17's.
// Source: R17, section 9.2, "Grouped Morton 4-2", for its other activation.
__kernel ATTRIBUTES void relu_morton_4_2(ARGUMENTS) {
  const int tile = get_global_id(1) * (M_pad / 4) + get_global_id(0);
  __global const float4* from = (__global const float4*)src + 2 * tile;
  __global float4* to = (__global float4*)dst + 2 * tile;
  to[0] = select(from[0], (float4)(0.0f), from[0] < 0.0f);
  to[1] = select(from[1], (float4)(0.0f), from[1] < 0.0f);
}
