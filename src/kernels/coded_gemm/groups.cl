// SPDX-License-Identifier: Apache-2.0
//
// coded_gemm.groups_1, coded_gemm.groups: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * w[k,n]), for GPUs, where
// w[k,n] = (code[k,n] - zeros[k/BLOCK,n]) * scales[k/BLOCK,n].
//
// Weights stay in codes in memory, and become floats in registers: four columns of a work-item, TILE_M rows.
//
//   lhs     R   m*K + k
//   codes   R   p*N_pad + n; byte p has the codes of k = p*CODES, in its lowest BITS, and of those behind
//   scales  R   g*N_pad + n
//   zeros   R   g*N_pad + n
//   dst(m, n)   through an accessor
//
//                      n, four columns of each work-item
//              p  0   [ item 0,0 | item 1,0 | item 2,0 | ... COLUMNS ]     neighbours read neighbouring bytes
//                     [    |     |    |     |
//                 P/PARTS  v     |    v     |
//                     [ item 0,1 | item 1,1 | ...                    ]     PARTS work-items share a column's bytes; in
//                     [    |     |    |     |                              the end their sums are added up in local memory
//
// A code less its zero is a whole number, so both are exact as floats. The scale of a block is multiplied once.
//
// Edges: rows beyond M read row M - 1. Work-items behind the last column read the last ones. Neither is stored.
// Tunables: COLUMNS and PARTS (a power of 2) of a work-group; TILE_M rows.
// Assumes: N_pad is a multiple of 4.
#define CODES (8 / BITS)

__kernel ATTRIBUTES void coded_groups(ARGUMENTS) {
  __local float4 parts[PARTS][COLUMNS];
  const int column = get_local_id(0);
  const int part = get_local_id(1);
  const int n = 4 * (int)get_global_id(0);
  const int n_read = min(n, N_pad - 4);
  const int m0 = (int)get_group_id(1) * TILE_M;
  __global const float* rows[TILE_M];
  float4 totals[TILE_M];
#pragma unroll
  for (int i = 0; i < TILE_M; ++i) {
    rows[i] = lhs + (ulong)min(m0 + i, M - 1) * K;
    totals[i] = (float4)(0.0f);
  }
  const int last = share(P, part + 1, PARTS);
  for (int p = share(P, part, PARTS); p < last;) {
    const int g = p * CODES / BLOCK;
    const int end = min(last, ((g + 1) * BLOCK + CODES - 1) / CODES);
    const float4 zero = convert_float4(vload4(0, zeros + (ulong)g * N_pad + n_read));
    float4 sums[TILE_M];
#pragma unroll
    for (int i = 0; i < TILE_M; ++i) sums[i] = (float4)(0.0f);
    for (; p < end; ++p) {
      const uchar4 bytes = vload4(0, codes + (ulong)p * N_pad + n_read);
#pragma unroll
      for (int c = 0; c < CODES; ++c) {
        const int k = p * CODES + c;
        if (CODES > 1 && k >= K) break;
        const float4 weight = convert_float4(bytes >> (uchar)(c * BITS) & (uchar)((1 << BITS) - 1)) - zero;
#pragma unroll
        for (int i = 0; i < TILE_M; ++i) sums[i] += rows[i][k] * weight;
      }
    }
    const float4 factor = vload4(0, scales + (ulong)g * N_pad + n_read);
#pragma unroll
    for (int i = 0; i < TILE_M; ++i) totals[i] += sums[i] * factor;
  }
#pragma unroll
  for (int i = 0; i < TILE_M; ++i) {
    parts[part][column] = totals[i];
    for (int half_parts = PARTS / 2; half_parts > 0; half_parts /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      if (part < half_parts) parts[part][column] += parts[part + half_parts][column];
    }
    // The last sum is that of this work-item itself.
    const float4 found = parts[0][column];
    const int m = m0 + i;
    if (part == 0 && m < M) {
      if (n < N) STORE_dst(m, n, EPILOGUE(found.s0, m, n));
      if (n + 1 < N) STORE_dst(m, n + 1, EPILOGUE(found.s1, m, n + 1));
      if (n + 2 < N) STORE_dst(m, n + 2, EPILOGUE(found.s2, m, n + 2));
      if (n + 3 < N) STORE_dst(m, n + 3, EPILOGUE(found.s3, m, n + 3));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
#undef CODES
