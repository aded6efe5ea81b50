// SPDX-License-Identifier: Apache-2.0
//
// pack.cells_12x4_rhs: dst[k,n] = src[k,n], into the format of gemm.cells_12x4's rhs: bands of four
// columns, of which two rows make a cell of 2 x 4.
//
//   src(k, n)   through accessors
//   dst  C_2_4_R   (n/4)*(4*K_pad) + (k/2)*8 + (k%2)*4 + n%4
//
//             n . . .
//        k  [ 0 1 2 3 ]     one work-item: the 8 elements of a cell, which follow each other in dst
//       k+1 [ 4 5 6 7 ]
//
// Tunables: LOCAL, work-items of a work-group.
// Source: G16 ("packing ... can be specialised for a format"); it agrees with pack.generic.
__kernel ATTRIBUTES void cells_12x4_rhs(ARGUMENTS) {
  const int pairs = dst_pad0 / 2;
  const int cells = dst_pad1 / 4 * pairs;
  for (int cell = get_global_id(0); cell < cells; cell += get_global_size(0)) {
    const int k = cell % pairs * 2;
    const int n = cell / pairs * 4;
    __global TYPE_dst* out = dst + cell * 8;
    for (int i = 0; i < 8; ++i) {
      const int d0 = k + i / 4;
      const int d1 = n + i % 4;
      TYPE_dst value = 0;
      if (d0 < D0 && d1 < D1) value = LOAD_src(0);
      out[i] = value;
    }
  }
}
