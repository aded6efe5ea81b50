// SPDX-License-Identifier: Apache-2.0
//
// integer_gemm.panels: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,n]), a patch of ROWS x 16
// for each work-item.
//
//   lhs  R          m*K + k
//   rhs  R_*_16_R   (n/16)*(K*16) + k*16 + n%16
//   dst(m, n)   through an accessor
//
//                        rhs    n ... n+15
//                            k [................]   16 bytes, one load; each of ROWS bytes of lhs
//        lhs      k             |                   scales it
//        m        x  ------>   [................]
//        m+ROWS-1 x  ------>   [................]
//
// Rows beyond M read the last row again, and nothing outside of dst is written; columns beyond N are the
// padding of rhs, whatever it holds.
//
// Tunables: ROWS of a patch; LOCAL_N, work-items of a work-group along n.
// Assumes: N_pad is a multiple of 16 * LOCAL_N; K is not padded.
// Source: the cells of G16 are 8-bit operands too; here a cell of rhs is one row of 16.
__kernel ATTRIBUTES void integer_panels(ARGUMENTS) {
  const int m0 = get_global_id(0) * ROWS;
  const int panel = get_global_id(1);
  __global const TYPE_rhs* columns = rhs + panel * (K * 16);
  int16 sum[ROWS];
#pragma unroll
  for (int i = 0; i < ROWS; ++i) sum[i] = (int16)(0);
  for (int k = 0; k < K; ++k) {
    const int16 row = convert_int16(vload16(k, columns));
#pragma unroll
    for (int i = 0; i < ROWS; ++i) sum[i] += (int)lhs[min(m0 + i, M - 1) * K + k] * row;
  }
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    if (m0 + i >= M) continue;
    for (int c = 0; c < 16; ++c) {
      const int n = panel * 16 + c;
      if (n < N) STORE_dst(m0 + i, n, EPILOGUE(((int*)&sum[i])[c], m0 + i, n));
    }
  }
}
