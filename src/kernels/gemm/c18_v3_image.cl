// SPDX-License-Identifier: Apache-2.0
//
// gemm.c18_v3_image: as gemm.c18_v3_4, with lhs in an image: a texel is four elements of a row.
//
//   lhs  R_1_4_R   texel (k/4, m), element k%4
//   rhs  C         n*K_pad + k
//   dst  R         m*N + n
//
//        lhs  k -->                  rhs  n       one work-item: a row of dst, element by element. A column
//          m  [texel][texel]...         [4]       of rhs is copied to local memory in pieces, by all of the
//        m+1  [texel][texel]...         [4]       work-group; each multiplies it by its own row of texels
//
// Work-items beyond M read row M - 1 once more, since barriers want all of them, and store nothing.
//
// Tunables: LOCAL, work-items of a work-group; PIECE, elements of a column in local memory.
// Assumes: K_pad is a multiple of 4; lhs is zero where k >= K, rhs finite there.
// Source: C18, section VII.C.6: operand A, the left one, is an image. There its memory is a buffer's.
#if PIECE % 4 != 0
#error "gemm.c18_v3_image: PIECE must be a multiple of 4"
#endif
__kernel ATTRIBUTES void c18_v3_image(ARGUMENTS) {
  __local float4 piece[PIECE / 4];
  const int m = get_global_id(0);
  const int row = min(m, M - 1);
  const int texels = K_pad / 4;
  for (int n = 0; n < N; ++n) {
    float4 sum = (float4)(0.0f);
    for (int first = 0; first < texels; first += PIECE / 4) {
      const int count = min(texels - first, PIECE / 4);
      for (int i = get_local_id(0); i < count; i += LOCAL) piece[i] = AT4_rhs(n * texels + first + i);
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int i = 0; i < count; ++i) sum += AT4_lhs(first + i, row) * piece[i];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (m < M) PUT_dst(m * N + n, sum.s0 + sum.s1 + sum.s2 + sum.s3);
  }
}
