// SPDX-License-Identifier: Apache-2.0
//
// gemm.rm_rm_blocked: dst[m,n] = sum over k of lhs[m,k] * rhs[k,n], a patch of 1 x 4 for each work-item.
//
//   lhs  R   m*K_pad + k
//   rhs  R   k*N_pad + n
//   dst  R   m*N_pad + n
//
//                        rhs    n . . .
//                            k  0 1 2 3
//                            .  4 5 6 7      each step: one vector of lhs, four of rhs; each element of
//                            .  8 9 a b      lhs scales a row of rhs
//        lhs  k . . .       +3  c d e f
//          m  0 1 2 3         [x x x x]
//
// A work-group of 8 x 8 work-items covers a tile of 8 rows x 32 columns. The best of the ladder that
// takes both operands row-major.
//
// Assumes: M_pad, N_pad, K_pad are multiples of 8, 32, 4; lhs is zero where k >= K, rhs finite there.
// Tunables: none.
// Source: R17, section 7.4.1 and appendix 12.2, after Gronqvist and Lokhmotov's sgemm for Mali.
__kernel ATTRIBUTES void rm_rm_blocked(ARGUMENTS) {
  const int m = get_global_id(0);
  const int quad = get_global_id(1);
  __global const float4* row = (__global const float4*)lhs + m * (K_pad / 4);
  __global const float4* columns = (__global const float4*)rhs + quad;
  const int pitch = N_pad / 4;
  float4 patch = (float4)(0.0f);
  for (int i = 0; i < K_pad / 4; ++i) {
    const float4 a = row[i];
    patch += a.x * columns[(4 * i) * pitch] + a.y * columns[(4 * i + 1) * pitch] +
             a.z * columns[(4 * i + 2) * pitch] + a.w * columns[(4 * i + 3) * pitch];
  }
  ((__global float4*)dst)[m * pitch + quad] = patch;
}
