// SPDX-License-Identifier: Apache-2.0
//
// coded_gemm.panels_1, coded_gemm.panels: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * w[k,n]), for CPUs, where
// w[k,n] = (code[k,n] - zeros[k/BLOCK,n]) * scales[k/BLOCK,n].
//
// With one row memory is the limit: each weight is read once and used once. So weights stay in codes there, and
// become floats in registers. With more rows, TILE_M of them use what was made.
//
//   lhs     R                m*K + k
//   codes   R_*_{TILE_N}_R   (n/TILE_N)*(TILE_N*P) + p*TILE_N + n%TILE_N; byte p has the codes of k = p*CODES and behind
//   scales  R_*_{TILE_N}_R   (n/TILE_N)*(TILE_N*G) + g*TILE_N + n%TILE_N
//   zeros   as scales
//   dst(m, n)   through an accessor
//
//                        codes      n              n+TILE_N
//                             p    [L ][L ][L ][L ]            L = LANES bytes
//                                   |   |   |   |              the lowest BITS of each, less its zero: L floats of row k
//        lhs      k                 v   v   v   v              the next BITS: row k+1 ...
//        m        x  ---------->   [L ][L ][L ][L ]            sums of the block, TILE_M * TILE_N/L vectors
//        m+TILE_M x  ---------->   [L ][L ][L ][L ]            at its end: totals += scales * sums
//
// A code less its zero is a whole number, so both are exact as floats. The scale of a block is multiplied once.
//
// Edges: rows beyond M read row M - 1, columns beyond N what pads the panel; neither is stored.
// Tunables: LANES, as many as the device has floats in a vector; TILE_M rows and TILE_N columns (a multiple of LANES).
// Source: MatMulNBits of ONNX Runtime has such blocks.
__kernel ATTRIBUTES void coded_panels(ARGUMENTS) {
  const int m0 = get_global_id(0) * TILE_M;
  const int n0 = get_global_id(1) * TILE_N;
  __global const uchar* code = codes + (ulong)n0 * P;
  __global const float* scale = scales + (ulong)n0 * G;
  __global const uchar* zero_code = zeros + (ulong)n0 * G;
  __global const float* rows[TILE_M];
  vector totals[TILE_M][VECTORS];
#pragma unroll
  for (int i = 0; i < TILE_M; ++i) {
    rows[i] = lhs + (ulong)min(m0 + i, M - 1) * K;
#pragma unroll
    for (int j = 0; j < VECTORS; ++j) totals[i][j] = 0.0f;
  }
  for (int k0 = 0; k0 < K; k0 += BLOCK) {
    const int end = min(k0 + BLOCK, K);
    vector zero[VECTORS];
    vector sums[TILE_M][VECTORS];
#pragma unroll
    for (int j = 0; j < VECTORS; ++j) {
      zero[j] = __builtin_convertvector(*(__global const code_lanes*)(zero_code + LANES * j), vector);
#pragma unroll
      for (int i = 0; i < TILE_M; ++i) sums[i][j] = 0.0f;
    }
    int k = k0;
    for (; k + CODES <= end; k += CODES) {
      multiply_codes(sums, rows, k, code, zero, CODES);
      code += TILE_N;
    }
    if (k < end) multiply_codes(sums, rows, k, code, zero, end - k);
#pragma unroll
    for (int j = 0; j < VECTORS; ++j) {
      const vector factor = *(__global const vector*)(scale + LANES * j);
#pragma unroll
      for (int i = 0; i < TILE_M; ++i) totals[i][j] += sums[i][j] * factor;
    }
    scale += TILE_N;
    zero_code += TILE_N;
  }
  const int columns = min(TILE_N, N - n0);
#pragma unroll
  for (int i = 0; i < TILE_M; ++i) {
    if (m0 + i >= M) break;
    float found[TILE_N];
#pragma unroll
    for (int j = 0; j < VECTORS; ++j) *(vector*)(found + LANES * j) = totals[i][j];
    for (int n = 0; n < columns; ++n) STORE_dst(m0 + i, n0 + n, EPILOGUE(found[n], m0 + i, n0 + n));
  }
}
