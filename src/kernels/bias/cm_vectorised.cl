// SPDX-License-Identifier: Apache-2.0
//
// bias.cm_vectorised, bias.cm_vectorised_4x16: dst[m,n] = src[m,n] + bias[m], column-major, four rows at a
// time.
//
//   src, dst  C   n*M_pad + m
//   bias      M   m
//
//           n            one work-item: four elements of a column, one vector of each operand
//       m  [0| | | ]
//       :  [0| | | ]
//     m+4  [1| | | ]
//
// Assumes: M_pad is a multiple of 4 * LOCAL_M, N_pad one of LOCAL_N; the padding of src and bias is finite,
// and so is what is left in that of dst.
// Tunables: LOCAL_M, LOCAL_N, the work-group: 16 x 1 stands for a driver's choice; 4 x 16 is R17's.
// Source: R17, section 9.1, "Vectorised CM" and "Grouped and Vectorised CM".
__kernel ATTRIBUTES void bias_cm_vectorised(ARGUMENTS) {
  const int quad = get_global_id(0);
  const int i = get_global_id(1) * (M_pad / 4) + quad;
  ((__global float4*)dst)[i] =
      ((__global const float4*)src)[i] + ((__global const float4*)bias)[quad];
}
