// SPDX-License-Identifier: Apache-2.0
//
// integer_gemm.code_panels: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]), ROWS x OUTPUTS for each work-item, for
// GPUs with dot products of bytes.
//
//   lhs  R          m*K_pad + k
//   rhs  C_4_{T}_C  (n/T)*(K_pad*T) + (k/4)*(4*T) + (n%T)*4 + k%4
//   dst(m, n)   through an accessor
//
//                          rhs  n     n+OUTPUTS
//        lhs  k .. k+BLOCK-1   [q q q q]
//        m        q q   ---->  [+ + + +]        q: four bytes along k, one number of 32 bits
//        m+LOCAL  q q   ---->  [+ + + +]        the words of rhs are the same for all of a work-group
//
// Work-groups are numbered 256 along the first dimension, then along the third. Rows beyond M read the last row again.
// Columns beyond N and k beyond K are padding of rhs: zero.
//
// Where bytes change their sign (shared/code_dots.clh), a' = a - A and b' = b - B of constants A and B, the products a'*b'
// lack B * sum a' + A * sum b' + A * B * K_pad. Sums of columns are those of a work-group, sums of rows a work-item's own.
//
// Tunables: ROWS; OUTPUTS (the T above); BLOCK, bytes of a row that are read at once; LOCAL, work-items of a work-group;
// PTX and DOTS, whether the device takes NVIDIA's instruction or another; SIGNED, whether bytes of lhs have signs as they
// are multiplied.
// Assumes: K_pad is a multiple of BLOCK.
#define LHS_FLIPS (HAS_SIGNS(TYPE_lhs) != SIGNED)
#define RHS_FLIPS (SIGNED && !HAS_SIGNS(TYPE_rhs))
#define AS_THEY_ARE(v) (v)
#if LHS_FLIPS
#define LHS_CODES(v) FLIPPED_SIGNS(v)
#define LHS_CHANGE (SIGNED ? 128 : -128)
#define OF_COLUMN(o) LHS_CHANGE * column_sums[o]
#else
#define LHS_CODES(v) (v)
#define LHS_CHANGE 0
#define OF_COLUMN(o) 0
#endif
#if RHS_FLIPS
#define RHS_CODES FLIPPED_SIGNS
#define OF_ROW 128 * (row_sum[0] + LHS_CHANGE * K_pad)
#else
#define RHS_CODES AS_THEY_ARE
#define OF_ROW 0
#endif

__kernel ATTRIBUTES void integer_code_panels(ARGUMENTS) {
  const int n0 = get_global_id(1) * OUTPUTS;
  const int group = get_group_id(2) * 256 + get_group_id(0);
  const int first = group * (ROWS * LOCAL) + get_local_id(0);
  ulong filter = (ulong)rhs + (uint)n0 * (uint)K_pad;
#if LHS_FLIPS
  __local int column_sums[OUTPUTS];
  SUM_WEIGHTS(column_sums, filter, K_pad / 4, RHS_CODES)
#endif
  ulong from[ROWS];
  int sum[ROWS][OUTPUTS];
#if RHS_FLIPS
  int row_sum[ROWS];
#endif
#pragma unroll
  for (int p = 0; p < ROWS; ++p) {
    from[p] = (ulong)lhs + (uint)min(first + p * LOCAL, M - 1) * (uint)K_pad;
#pragma unroll
    for (int o = 0; o < OUTPUTS; ++o) sum[p][o] = 0;
#if RHS_FLIPS
    row_sum[p] = 0;
#endif
  }

  for (int k = 0; k < K_pad; k += BLOCK) {
    CODE_WORDS codes[ROWS];
#pragma unroll
    for (int p = 0; p < ROWS; ++p) {
      codes[p] = LHS_CODES(CODES_AT(from[p]));
      from[p] += BLOCK;
#if RHS_FLIPS
#pragma unroll
      for (int q = 0; q < BLOCK / 4; ++q) {
        const uint four = CODE_WORD(codes[p], q);
        ADD_DOT(row_sum[p], four, ALL_ONES);
      }
#endif
    }
    ADD_BLOCK(sum, codes, filter, RHS_CODES)
  }

  // Rows and columns move up instead of being indexed, so that they stay in registers.
  for (int m = first; m < min(first + ROWS * LOCAL, M); m += LOCAL) {
#pragma unroll
    for (int o = 0; o < OUTPUTS; ++o) {
      if (n0 + o < N) STORE_dst(m, n0 + o, EPILOGUE(sum[0][o] + OF_COLUMN(o) + OF_ROW, m, n0 + o));
    }
#pragma unroll
    for (int p = 1; p < ROWS; ++p) {
#pragma unroll
      for (int o = 0; o < OUTPUTS; ++o) sum[p - 1][o] = sum[p][o];
#if RHS_FLIPS
      row_sum[p - 1] = row_sum[p];
#endif
    }
  }
}
#undef LHS_FLIPS
#undef RHS_FLIPS
#undef AS_THEY_ARE
#undef LHS_CODES
#undef LHS_CHANGE
#undef OF_COLUMN
#undef RHS_CODES
#undef OF_ROW
