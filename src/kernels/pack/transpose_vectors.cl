// SPDX-License-Identifier: Apache-2.0
//
// pack.transpose_vectors, pack.transpose_vectors_back: dst[i,j] = src[i,j], from row by row to column by
// column, or the other way round, for CPUs.
//
//   src   i*COLUMNS + j
//   dst   j*PADDED_ROWS + i
//
//              j0 . . . . +16                  i0 . . . . +16
//         i0  [ a a a a a a ]             j0  [ a b c . . . ]     a square of 16 x 16 passes through
//          .  [ b b b b b b ]   16        .   [ a b c . . . ]     registers: 16 vectors are read, mixed
//          .  [ c c c c c c ]  ---->      .   [ a b c . . . ]     in pairs four times over, and written
//        +16  [ . . . . . . ] vectors   +16   [ . . . . . . ]
//
// Mixing: of vectors x and y, x0 y0 x1 y1 ... to x7 y7, and x8 y8 ... x15 y15. With x from the upper eight
// vectors and y from the lower eight, four rounds turn the square: each moves a bit of an element's
// column number to its row number.
//
// A work-group is one work-item, which writes 16 rows of dst from end to end.
//
// Edges: squares that are not whole go element by element. Padding of dst is written as zero.
// Tunables: BACK in pack.transpose_vectors_back only.
#ifdef BACK
#define ROWS D1
#define COLUMNS D0
#define PADDED_ROWS dst_pad1
#define PADDED_COLUMNS dst_pad0
#else
#define ROWS D0
#define COLUMNS D1
#define PADDED_ROWS dst_pad0
#define PADDED_COLUMNS dst_pad1
#endif

__kernel ATTRIBUTES void transpose_vectors(ARGUMENTS) {
  // Sixteen floats that may start at any float, where OpenCL's float16 starts at 64 bytes only.
  typedef float sixteen __attribute__((ext_vector_type(16), aligned(4)));
  for (int j0 = get_global_id(0) * 16; j0 < PADDED_COLUMNS; j0 += get_global_size(0) * 16) {
    for (int i0 = 0; i0 < PADDED_ROWS; i0 += 16) {
      if (i0 + 16 <= ROWS && j0 + 16 <= COLUMNS) {
        sixteen square[16];
#pragma unroll
        for (int i = 0; i < 16; ++i) {
          square[i] = *(__global const sixteen*)(src + (i0 + i) * COLUMNS + j0);
        }
#pragma unroll
        for (int round = 0; round < 4; ++round) {
          sixteen mixed[16];
#pragma unroll
          for (int i = 0; i < 8; ++i) {
            mixed[2 * i].even = square[i].lo;
            mixed[2 * i].odd = square[i + 8].lo;
            mixed[2 * i + 1].even = square[i].hi;
            mixed[2 * i + 1].odd = square[i + 8].hi;
          }
#pragma unroll
          for (int i = 0; i < 16; ++i) square[i] = mixed[i];
        }
#pragma unroll
        for (int j = 0; j < 16; ++j) {
          *(__global sixteen*)(dst + (j0 + j) * PADDED_ROWS + i0) = square[j];
        }
      } else {
        for (int j = j0; j < min(j0 + 16, PADDED_COLUMNS); ++j) {
          for (int i = i0; i < min(i0 + 16, PADDED_ROWS); ++i) {
            dst[j * PADDED_ROWS + i] = i < ROWS && j < COLUMNS ? src[i * COLUMNS + j] : 0.0f;
          }
        }
      }
    }
  }
}
#undef ROWS
#undef COLUMNS
#undef PADDED_ROWS
#undef PADDED_COLUMNS
