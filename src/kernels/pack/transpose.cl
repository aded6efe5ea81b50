// SPDX-License-Identifier: Apache-2.0
//
// pack.transpose: dst[i,j] = src[i,j], from row by row to column by column, through local memory.
//
//   src  R   i*D1 + j
//   dst  C   j*dst_pad0 + i
//
//        src   j0       +TILE            dst   i0       +TILE
//         i0  [a b c d]                   j0  [a e i m]       a work-group reads rows of a tile of src and
//             [e f g h]     local             [b f j n]       writes rows of the same tile turned: both ways
//             [i j k l]  -> memory ->         [c g k o]       neighbouring work-items touch neighbouring
//       +TILE [m n o p]                 +TILE [d h l p]       elements
//
// A row of the tile in local memory is one element longer, so that a column of it lies in different banks.
// Padding of dst is written as zero.
//
// Tunables: TILE, the side of a tile, which is a work-group.
__kernel ATTRIBUTES void transpose(ARGUMENTS) {
  __local TYPE_dst tile[TILE][TILE + 1];
  const int x = get_local_id(0);
  const int y = get_local_id(1);
  for (int i0 = get_group_id(1) * TILE; i0 < dst_pad0; i0 += get_num_groups(1) * TILE) {
    for (int j0 = get_group_id(0) * TILE; j0 < dst_pad1; j0 += get_num_groups(0) * TILE) {
      const int is_data = i0 + y < D0 && j0 + x < D1;
      tile[y][x] = is_data ? src[(i0 + y) * D1 + j0 + x] : (TYPE_dst)0;
      barrier(CLK_LOCAL_MEM_FENCE);
      if (j0 + y < dst_pad1 && i0 + x < dst_pad0) dst[(j0 + y) * dst_pad0 + i0 + x] = tile[x][y];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
}
