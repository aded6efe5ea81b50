// SPDX-License-Identifier: Apache-2.0
//
// gemm.morton_4_4: dst[m,n] = sum over k of lhs[m,k] * rhs[k,n].
//
// As gemm.morton_4_2, with square tiles of 16 elements: a tile of lhs and one of rhs fill a cache line of
// 64 bytes each, and two work-items, one above or beside the other, share it.
//
//   lhs  R_4_4_R   (m/4)*(4*K_pad) + (k/4)*16 + (m%4)*4 + k%4
//   rhs  C_4_4_C   (n/4)*(4*K_pad) + (k/4)*16 + (n%4)*4 + k%4
//   dst  C_4_4_C   (n/4)*(4*M_pad) + (m/4)*16 + (n%4)*4 + m%4
//
//                         rhs   n . . .
//                             k  0  4  8  c     the numbers (hexadecimal) are offsets within a tile
//                             .  1  5  9  d
//                             .  2  6  a  e
//        lhs  k . . .        +3  3  7  b  f
//          m  0 1 2 3          [patch ] .  .     a work-item takes two rows and two columns of a tile
//        m+1  4 5 6 7          [2 x 2 ] .  .
//        m+2  8 9 a b            .   .  .  .
//        m+3  c d e f            .   .  .  .
//
// A work-group of 4 x 16 work-items covers a tile of 8 rows x 32 columns of dst.
//
// Assumes: M_pad, N_pad and K_pad are multiples of 8, 32 and 4; lhs is zero wherever k >= K, rhs finite.
// Tunables: none.
// Source: R17, section 8.4 and appendix 12.6.
__kernel ATTRIBUTES void morton_4_4(ARGUMENTS) {
  const int row_pair = get_global_id(0);
  const int column_pair = get_global_id(1);
  // In vectors of four: a row of tiles has K_pad of them; an odd pair starts in the middle of a tile.
  __global const float4* rows =
      (__global const float4*)lhs + (row_pair / 2) * K_pad + (row_pair % 2) * 2;
  __global const float4* columns =
      (__global const float4*)rhs + (column_pair / 2) * K_pad + (column_pair % 2) * 2;
  float4 patch = (float4)(0.0f);  // (0,0) (1,0) (0,1) (1,1)
  for (int i = 0; i < K_pad; i += 4) {
    const float4 upper = rows[i];
    const float4 lower = rows[i + 1];
    const float4 left = columns[i];
    const float4 right = columns[i + 1];
    patch += (float4)(dot(upper, left), dot(lower, left), dot(upper, right), dot(lower, right));
  }
  // In pairs: a column of tiles of dst has 2 * M_pad of them, a tile 8, a column of a tile 2.
  __global float2* pairs = (__global float2*)dst + (column_pair / 2) * (2 * M_pad) +
                           (row_pair / 2) * 8 + (column_pair % 2) * 4 + row_pair % 2;
  pairs[0] = patch.lo;
  pairs[2] = patch.hi;
}
