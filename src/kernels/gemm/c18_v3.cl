// SPDX-License-Identifier: Apache-2.0
//
// gemm.c18_v3_4, _8, _16, and the same with _f16: dst[m,n] = sum over k of lhs[m,k] * rhs[k,n], rhs transposed beforehand, in
// vectors of VECTOR elements.
//
//   lhs  R   m*K_pad + k
//   rhs  C   n*K_pad + k     the transposed matrix; the plan packs rhs where it does not lie so
//   dst  R   m*N + n
//
//        lhs  k -->                  rhs  n            one work-item computes one row of dst, element by
//          m  [VECTOR][VECTOR]...        [VECTOR]      element. All of a work-group need the same column of
//        m+1  [VECTOR][VECTOR]...        [VECTOR]      rhs at the same time: together they copy a piece of
//          .                               ...         it to local memory, each its vectors, and then each
//    m+LOCAL                               v k         multiplies it by its own row
//
// Work-items beyond M compute row M - 1 once more, since barriers want all of them, and store nothing.
//
// Tunables: VECTOR; LOCAL, work-items of a work-group (C18 found 16, 16 and 64 best on the Adreno 540, for
// vectors of 4, 8 and 16); PIECE, elements of a column in local memory.
// Assumes: K_pad is a multiple of VECTOR; lhs is zero where k >= K, rhs finite there.
// Source: C18, sections VII.C.3 to C.5 (kernel version 3; its text is not printed). There a whole column is
// in local memory, which bounds K; here a piece of it.
#if PIECE % VECTOR != 0
#error "gemm.c18_v3: PIECE must be a multiple of VECTOR"
#endif
#define JOIN_NAMES(a, b, c) a##b##c
#define VECTOR_TYPE(n) JOIN_NAMES(float, n, )
#define VECTOR_AT(n, operand) JOIN_NAMES(AT, n, operand)

__kernel ATTRIBUTES void c18_v3(ARGUMENTS) {
  typedef VECTOR_TYPE(VECTOR) vector;
  __local vector piece[PIECE / VECTOR];
  const int m = get_global_id(0);
  const int vectors = K_pad / VECTOR;
  const int row = min(m, M - 1) * vectors;
  for (int n = 0; n < N; ++n) {
    const int column = n * vectors;
    vector sum = (vector)(0.0f);
    for (int first = 0; first < vectors; first += PIECE / VECTOR) {
      const int count = min(vectors - first, PIECE / VECTOR);
      for (int i = get_local_id(0); i < count; i += LOCAL) {
        piece[i] = VECTOR_AT(VECTOR, _rhs)(column + first + i);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int i = 0; i < count; ++i) {
        sum += VECTOR_AT(VECTOR, _lhs)(row + first + i) * piece[i];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
#if VECTOR == 16
    const float8 eight = sum.lo + sum.hi;
    const float4 four = eight.lo + eight.hi;
#elif VECTOR == 8
    const float4 four = sum.lo + sum.hi;
#else
    const float4 four = sum;
#endif
    if (m < M) PUT_dst(m * N + n, four.s0 + four.s1 + four.s2 + four.s3);
  }
}
#undef JOIN_NAMES
#undef VECTOR_TYPE
#undef VECTOR_AT
