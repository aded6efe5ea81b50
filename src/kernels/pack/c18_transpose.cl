// SPDX-License-Identifier: Apache-2.0
//
// pack.c18_transpose_4, _8 and _16: dst[i,j] = src[i,j], from row by row to column by column, as C18
// transposes before its products.
//
//   src  R   i*D1 + j
//   dst  C   j*dst_pad0 + i
//
//        src   j            j+VECTOR           one work-item turns a whole row: it reads vectors of VECTOR
//         i  [VECTOR][VECTOR] ... -->          elements along it and writes each element into another row of
//                                              dst. Work-items side by side write side by side.
//
// The last elements of a row, fewer than a vector, are turned one by one. Padding of dst is written as zero.
//
// Tunables: VECTOR; LOCAL, work-items of a work-group.
// Source: C18, sections VII.C.3 and C.4 (MatTrans_1D; its text is not printed).
#define JOIN_NAMES(a, b) a##b
#define VECTOR_LOAD(n) JOIN_NAMES(vload, n)
#define VECTOR_STORE(n) JOIN_NAMES(vstore, n)

__kernel ATTRIBUTES void c18_transpose(ARGUMENTS) {
  for (int i = get_global_id(0); i < dst_pad0; i += get_global_size(0)) {
    const int length = i < D0 ? D1 : 0;
    int j = 0;
    for (; j + VECTOR <= length; j += VECTOR) {
      TYPE_dst values[VECTOR];
      VECTOR_STORE(VECTOR)(VECTOR_LOAD(VECTOR)(0, src + i * D1 + j), 0, values);
      for (int c = 0; c < VECTOR; ++c) dst[(j + c) * dst_pad0 + i] = values[c];
    }
    for (; j < dst_pad1; ++j) dst[j * dst_pad0 + i] = j < length ? src[i * D1 + j] : (TYPE_dst)0;
  }
}
#undef JOIN_NAMES
#undef VECTOR_LOAD
#undef VECTOR_STORE
