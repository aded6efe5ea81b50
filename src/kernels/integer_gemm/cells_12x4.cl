// SPDX-License-Identifier: Apache-2.0
//
// integer_gemm.cells_12x4: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]), as gemmlowp's
// NEONKernel12x4Depth2 computes it: the lhs side is 3 cells of 4 x 2 bytes, the rhs side 1 cell of 2 x 4,
// two levels of depth at a time. Cells are widened to 16 bits, sums have 32.
//
//   lhs  R_12_2_R_4_2_C   (m/12)*(12*K_pad) + (k/2)*24 + (m%12/4)*8 + (k%2)*4 + m%4
//   rhs  C_2_4_R          (n/4)*(4*K_pad) + (k/2)*8 + (k%2)*4 + n%4
//   dst(m, n)             through an accessor
//
//                         rhs    n . . .
//                             k  0 1 2 3        one cell of 2 x 4
//        lhs  k k+1          +1  4 5 6 7
//          m  0 4             [ 12 x 4 ]
//          .  1 5             [  sums  ]        each step loads 8 bytes of rhs and three times 8 of lhs,
//          .  2 6                               and adds 12 x 4 x 2 products
//          .  3 7
//        m+4  8 c
//          .  ...
//
// A work-group is one work-item. Nothing outside of dst is written.
//
// Assumes: M_pad, N_pad, K_pad are multiples of 12, 4, 2; lhs is zero where k >= K.
// Tunables: none.
// Source: G16 (the register layout of its critical comment).
__kernel ATTRIBUTES void integer_cells_12x4(ARGUMENTS) {
  const int band = get_global_id(0);
  const int quad = get_global_id(1);
  __global const TYPE_lhs* cells = lhs + band * (12 * K_pad);
  __global const TYPE_rhs* depth = rhs + quad * (4 * K_pad);
  int4 sum[12];
  for (int r = 0; r < 12; ++r) sum[r] = (int4)(0);
  for (int k = 0; k < K_pad / 2; ++k) {
    const short8 right = convert_short8(vload8(k, depth));
    const int4 first = convert_int4(right.lo);
    const int4 second = convert_int4(right.hi);
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      const short8 left = convert_short8(vload8(3 * k + c, cells));
      sum[4 * c] += (int)left.s0 * first + (int)left.s4 * second;
      sum[4 * c + 1] += (int)left.s1 * first + (int)left.s5 * second;
      sum[4 * c + 2] += (int)left.s2 * first + (int)left.s6 * second;
      sum[4 * c + 3] += (int)left.s3 * first + (int)left.s7 * second;
    }
  }
  for (int r = 0; r < 12; ++r) {
    const int m = band * 12 + r;
    for (int c = 0; c < 4; ++c) {
      const int n = quad * 4 + c;
      if (m < M && n < N) STORE_dst(m, n, EPILOGUE(((int*)&sum[r])[c], m, n));
    }
  }
}
