// SPDX-License-Identifier: Apache-2.0
//
// pack.cells_12x4_lhs: dst[m,k] = src[m,k], into the format of gemm.cells_12x4's lhs: bands of 12 rows, of
// which two columns make three cells of 4 x 2.
//
//   src(m, k)   through accessors
//   dst  R_12_2_R_4_2_C   (m/12)*(12*K_pad) + (k/2)*24 + (m%12/4)*8 + (k%2)*4 + m%4
//
//             k k+1
//        m  [ 0  4 ]     one work-item: 24 elements that follow each other in dst, offsets in hexadecimal
//           [ 1  5 ]     and so forth: cells of 8 one below the other
//           [ .  . ]
//        +4 [ 8  c ]     The place of each is known from that of the first: one division for 24 elements,
//           [ .  . ]     where pack.generic undoes five loops for each
//        +8 [10 14 ]
//           [ .  . ]
//
// Tunables: LOCAL, work-items of a work-group.
// Source: G16 ("packing ... can be specialised for a format"); it agrees with pack.generic.
__kernel ATTRIBUTES void cells_12x4_lhs(ARGUMENTS) {
  const int pairs = dst_pad1 / 2;
  const int blocks = dst_pad0 / 12 * pairs;
  for (int block = get_global_id(0); block < blocks; block += get_global_size(0)) {
    const int m = block / pairs * 12;
    const int k = block % pairs * 2;
    __global TYPE_dst* out = dst + block * 24;
    for (int i = 0; i < 24; ++i) {
      const int d0 = m + i / 8 * 4 + i % 4;
      const int d1 = k + i % 8 / 4;
      TYPE_dst value = 0;
      if (d0 < D0 && d1 < D1) value = LOAD_src(0);
      out[i] = value;
    }
  }
}
