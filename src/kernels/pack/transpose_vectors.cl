// SPDX-License-Identifier: Apache-2.0
//
// pack.transpose_vectors, pack.transpose_vectors_back: dst[i,j] = src[i,j], from row by row to column by
// column, or the other way round, for CPUs.
//
//   src   i*COLUMNS + j
//   dst   j*PADDED_ROWS + i
//
//              j0 . . . . . +L                 i0 . . . . . +L
//         i0  [ a a a a a a ]             j0  [ a b c . . . ]     a square of L x L passes through
//          .  [ b b b b b b ]    L        .   [ a b c . . . ]     registers: L vectors are read, mixed
//          .  [ c c c c c c ]  ---->      .   [ a b c . . . ]     in pairs log2(L) times, and written
//         +L  [ . . . . . . ] vectors    +L   [ . . . . . . ]
//
// Mixing: of vectors x and y of 16, x0 y0 x1 y1 ... to x7 y7, and x8 y8 ... x15 y15. With x from the upper half
// of the vectors and y from the lower one, four rounds turn a square of 16: each moves a bit of an element's
// column number to its row number.
//
// A work-group is one work-item, which writes L rows of dst from end to end.
//
// Edges: squares that are not whole go element by element. Padding of dst is written as zero.
// Tunables: LANES, the L above: floats of a vector; BACK in pack.transpose_vectors_back only.
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
#define ROUNDS (LANES == 16 ? 4 : LANES == 8 ? 3 : 2)

__kernel ATTRIBUTES void transpose_vectors(ARGUMENTS) {
  for (int j0 = get_global_id(0) * LANES; j0 < PADDED_COLUMNS; j0 += get_global_size(0) * LANES) {
    for (int i0 = 0; i0 < PADDED_ROWS; i0 += LANES) {
      if (i0 + LANES <= ROWS && j0 + LANES <= COLUMNS) {
        vector square[LANES];
#pragma unroll
        for (int i = 0; i < LANES; ++i) {
          square[i] = *(__global const vector*)(src + (i0 + i) * COLUMNS + j0);
        }
#pragma unroll
        for (int round = 0; round < ROUNDS; ++round) {
          vector mixed[LANES];
#pragma unroll
          for (int i = 0; i < LANES / 2; ++i) {
            mixed[2 * i].even = square[i].lo;
            mixed[2 * i].odd = square[i + LANES / 2].lo;
            mixed[2 * i + 1].even = square[i].hi;
            mixed[2 * i + 1].odd = square[i + LANES / 2].hi;
          }
#pragma unroll
          for (int i = 0; i < LANES; ++i) square[i] = mixed[i];
        }
#pragma unroll
        for (int j = 0; j < LANES; ++j) {
          *(__global vector*)(dst + (j0 + j) * PADDED_ROWS + i0) = square[j];
        }
      } else {
        for (int j = j0; j < min(j0 + LANES, PADDED_COLUMNS); ++j) {
          for (int i = i0; i < min(i0 + LANES, PADDED_ROWS); ++i) {
            dst[j * PADDED_ROWS + i] = i < ROWS && j < COLUMNS ? src[i * COLUMNS + j] : 0.0f;
          }
        }
      }
    }
  }
}
#undef ROWS
#undef ROUNDS
#undef COLUMNS
#undef PADDED_ROWS
#undef PADDED_COLUMNS
