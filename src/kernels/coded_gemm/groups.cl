// SPDX-License-Identifier: Apache-2.0
//
// coded_gemm.groups_1, coded_gemm.groups: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * w[k,n]), for GPUs, where
// w[k,n] = (code[k,n] - zeros[k/BLOCK,n]) * scales[k/BLOCK,n].
//
// Weights stay in codes in memory, and become floats in registers: four columns of a work-item, TILE_M rows.
//
//   lhs     R          m*K_pad + k
//   codes   R_16_4_R   (p/16*(N_pad/4) + n/4)*64 + p%16*4 + n%4; byte p has the codes of k = p*CODES, in its lowest
//                      BITS, and of those behind
//   scales  R          g*N_pad + n
//   zeros   R          g*N_pad + n
//   dst(m, n)          through an accessor
//
//                      n, four columns of each work-item
//               p  0   [ item 0,0 | item 1,0 | item 2,0 | ... COLUMNS ]     4 x 4 bytes are one load; four such loads
//                      [    |     |    |     |                              of a work-item lie together
//                P/PARTS    v     |    v     |
//                      [ item 0,1 | item 1,1 | ...                    ]     PARTS work-items share a column's bytes; in
//                      [    |     |    |     |                              the end their sums are added up in local memory
//
// With few rows what counts is how many loads are under way. So many work-items have few bytes each.
//
// A code becomes a float without a conversion, which is slow on GPUs: put into the lowest bits of 2^23 it is added to
// it. The zero is added to 2^23 likewise. Their difference is a whole number, so it is exact. The scale of a block is
// multiplied once.
//
// Edges: rows beyond M read row M - 1. Work-items behind the last column read the last ones. Neither is stored.
// Tunables: COLUMNS and PARTS (a power of 2) of a work-group; TILE_M rows.
// Assumes: N_pad is a multiple of 4, K_pad of 32; lhs is zero where k >= K.
#define CODES (8 / BITS)
// A step: bytes of a column that lie in one block and are loaded together, LOADS of 4 x 4, or one row of them.
#if BLOCK % (16 * CODES) == 0 && CODES <= 2
#define LOADS 4
#elif BLOCK % (8 * CODES) == 0
#define LOADS 2
#elif BLOCK % (4 * CODES) == 0
#define LOADS 1
#endif
#ifdef LOADS
#define STEP (LOADS * 4 * CODES)
#define STEP_BYTES (LOADS * 4)
#else
#define STEP CODES
#define STEP_BYTES 1
#endif
// Four codes, each in the lowest bits of 2^23.
#define RAISED(four, c) \
  as_float4(convert_uint4(four) >> (uint)((c) * BITS) & (uint)((1 << BITS) - 1) | 0x4B000000u)
// The codes of one row of bytes, for each of the rows of lhs.
#define MULTIPLY(four, k)                                                                    \
  _Pragma("unroll") for (int c = 0; c < CODES; ++c) {                                        \
    const float4 weight = RAISED(four, c) - zero;                                            \
    _Pragma("unroll") for (int i = 0; i < TILE_M; ++i) sums[i] += row[i][(k) + c] * weight;  \
  }

__kernel ATTRIBUTES void coded_groups(ARGUMENTS) {
  __local float4 parts[PARTS][COLUMNS];
  const int column = get_local_id(0);
  const int part = get_local_id(1);
  const int n = 4 * (int)get_global_id(0);
  const int n_read = min(n, N_pad - 4);
  const int m0 = (int)get_group_id(1) * TILE_M;
  __global const uchar* own = codes + (ulong)n_read * 16;
  __global const float* rows[TILE_M];
  float4 totals[TILE_M];
#pragma unroll
  for (int i = 0; i < TILE_M; ++i) {
    rows[i] = lhs + (ulong)min(m0 + i, M - 1) * K_pad;
    totals[i] = (float4)(0.0f);
  }
  const int steps = (K + STEP - 1) / STEP;
  const int last = share(steps, part + 1, PARTS);
  for (int step = share(steps, part, PARTS); step < last;) {
    const int g = step * STEP / BLOCK;
    const int end = min(last, ((g + 1) * BLOCK + STEP - 1) / STEP);
    const ulong of_block = (ulong)g * N_pad + n_read;
    const float4 zero = convert_float4(*(__global const uchar4*)(zeros + of_block)) + 8388608.0f;
    const float4 factor = *(__global const float4*)(scales + of_block);
    float4 sums[TILE_M];
#pragma unroll
    for (int i = 0; i < TILE_M; ++i) sums[i] = (float4)(0.0f);
    for (; step < end; ++step) {
      const int p = step * STEP_BYTES;
      __global const uchar* from = own + (ulong)(p / 16) * N_pad * 16 + p % 16 * 4;
#ifdef LOADS
      uchar16 bytes[LOADS];
#pragma unroll
      for (int j = 0; j < LOADS; ++j) bytes[j] = ((__global const uchar16*)from)[j];
#pragma unroll
      for (int j = 0; j < LOADS; ++j) {
        float row[TILE_M][4 * CODES];
#pragma unroll
        for (int i = 0; i < TILE_M; ++i) {
#pragma unroll
          for (int q = 0; q < 4 * CODES; q += 4) {
            const float4 four = *(__global const float4*)(rows[i] + step * STEP + j * 4 * CODES + q);
            row[i][q] = four.s0;
            row[i][q + 1] = four.s1;
            row[i][q + 2] = four.s2;
            row[i][q + 3] = four.s3;
          }
        }
        MULTIPLY(bytes[j].s0123, 0)
        MULTIPLY(bytes[j].s4567, CODES)
        MULTIPLY(bytes[j].s89ab, 2 * CODES)
        MULTIPLY(bytes[j].scdef, 3 * CODES)
      }
#else
      const uchar4 bytes = *(__global const uchar4*)from;
      float row[TILE_M][CODES];
#pragma unroll
      for (int i = 0; i < TILE_M; ++i) {
#pragma unroll
        for (int q = 0; q < CODES; ++q) row[i][q] = rows[i][step * STEP + q];
      }
      MULTIPLY(bytes, 0)
#endif
    }
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
#undef LOADS
#undef STEP
#undef STEP_BYTES
#undef RAISED
#undef MULTIPLY
