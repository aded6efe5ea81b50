// SPDX-License-Identifier: Apache-2.0
//
// gemm.cells_12x4: dst[m,n] = sum over k of lhs[m,k] * rhs[k,n], in the format of gemmlowp's
// NEONKernel12x4Depth2: the lhs side is 3 cells of 4 x 2, the rhs side 1 cell of 2 x 4, two levels of
// depth at a time; here in f32.
//
//   lhs  R_12_2_R_4_2_C   (m/12)*(12*K_pad) + (k/2)*24 + (m%12/4)*8 + (k%2)*4 + m%4
//   rhs  C_2_4_R          (n/4)*(4*K_pad) + (k/2)*8 + (k%2)*4 + n%4
//   dst  R                m*N_pad + n
//
//                         rhs    n . . .
//                             k  0 1 2 3        one cell of 2 x 4
//        lhs  k k+1          +1  4 5 6 7
//          m  0 4             [ q0 of 4 ]
//          .  1 5             [ rows,   ]       twelve accumulators, a vector of four columns for each
//          .  2 6             [ three   ]       row; each step loads three cells of lhs and one of rhs
//          .  3 7             [ cells   ]       and adds 12 x 4 x 2 products
//        m+4  8 c             [  high   ]
//          .  ...
//
// A work-group is one work-item.
//
// Assumes: M_pad, N_pad, K_pad are multiples of 12, 4, 2; lhs is zero where k >= K, rhs finite there.
// Tunables: none.
// Source: G16 (the register layout of its critical comment); how the format is said is in
// docs/how_to/add_a_kernel.md.
__kernel ATTRIBUTES void cells_12x4(ARGUMENTS) {
  const int band = get_global_id(0);
  const int quad = get_global_id(1);
  __global const float4* cells = (__global const float4*)lhs + band * (3 * K_pad);
  __global const float4* depth = (__global const float4*)rhs + quad * K_pad;
  float4 rows[12];
  for (int r = 0; r < 12; ++r) rows[r] = (float4)(0.0f);
  for (int k = 0; k < K_pad; k += 2) {
    const float4 first = depth[k];
    const float4 second = depth[k + 1];
    for (int c = 0; c < 3; ++c) {
      const float4 a = cells[3 * k + 2 * c];
      const float4 b = cells[3 * k + 2 * c + 1];
      rows[4 * c] += a.x * first + b.x * second;
      rows[4 * c + 1] += a.y * first + b.y * second;
      rows[4 * c + 2] += a.z * first + b.z * second;
      rows[4 * c + 3] += a.w * first + b.w * second;
    }
  }
  __global float4* quads = (__global float4*)dst + band * 12 * (N_pad / 4) + quad;
  for (int r = 0; r < 12; ++r) quads[r * (N_pad / 4)] = rows[r];
}
