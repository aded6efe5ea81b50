// SPDX-License-Identifier: Apache-2.0
//
// attention.mma_f16, attention.mma_bf16 and kin: dst[b,h,m,w] = EPILOGUE(sum over l of share[m,l] * value[b,h,l,w]), where
// share is the softmax over l of SCALE * sum over d of query[b,h,m,d] * key[b,h,l,d] + mask[e,f,g,s], on the matrix
// units of NVIDIA GPUs, operands in half or bfloat16, sums in f32.
//
//   query, dst  BMHD, BMHW   ((b*M + m)*H + h)*D + d
//   key, value  BLHD, BLHW   ((b*L + l)*H + h)*D + d
//   mask        EFGS         ((e*F + f)*G + g)*S + s
//
//                              keys, then values of l0 ...     A work-group has TILE_M queries of one head, each warp
//                              [ l  | d by d             ]     (32 work-items in lockstep) 16 of them in registers. It
//     warp 0   m0      [ d ]   [ l+1| in local memory    ]     goes along the keys, TILE_L at a time. While it computes
//              m0+15   [   ]   [ ...                     ]     with one tile of keys and values, cp.async fetches the
//     warp 1   m0+16   [ d ]                                   next.
//
// Products are of 16 x 16 x 8, one instruction each. Where an instruction leaves its 16 x 8 sums in a warp's registers,
// the next wants its 16 x 16 factors: scores become shares without a way through memory.
//
// Shares keep the precision of f32. Each is the sum of PARTS numbers of the operands' type (2 halves, 3 of bfloat16): the
// share rounded, what that leaves over rounded, and so on. Values are multiplied by all of them. So that halves hold small
// shares, all are LARGEST times as large; what is below 2^-40 of a query's largest share is lost.
//
// The largest score of a query so far is subtracted from all. Where a later tile has a larger one, sums so far are
// multiplied by exp(former - new). A NaN anywhere in a query's scores makes all of its results NaN.
//
// Edges: queries that do not exist are zeros, and not stored. Keys that do not exist have scores of -INFINITY, and
// values of 0.
//
// Tunables: TILE_M queries of a work-group (a multiple of 16); TILE_L keys of a step (of 16); HEAD, the most columns of
// queries and values (of 16).
// Assumes: elements of each operand are countable in 31 bits; finite values (infinite ones make NaN). A driver that
// takes PTX within OpenCL C, for sm_80 or later.
// Source: Dao, "FlashAttention-2" (2023), for the order of the work. NVIDIA, "Parallel Thread Execution ISA",
// mma.m16n8k16, ldmatrix.
#define ITEMS (2 * TILE_M)
// Bytes of a tile of keys, or of values.
#define TILE_BYTES (2 * TILE_L * HEAD_PITCH)
#define MMA_TYPE_half "f16"
#define MMA_TYPE_ushort "bf16"
#define PARTS_half 2
#define PARTS_ushort 3
#define LARGEST_half 32768.0f
#define LARGEST_ushort 1.0f
#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)
#define MMA_TYPE JOINED(MMA_TYPE_, MEMORY_key)
#define PARTS JOINED(PARTS_, MEMORY_key)
#define LARGEST JOINED(LARGEST_, MEMORY_key)

// The two numbers of a word as floats, the lower half first.
#define FLOATS_half(word, low, high)                                                                \
  asm("{.reg .b16 a, b; mov.b32 {a, b}, %2; cvt.f32.f16 %0, a; cvt.f32.f16 %1, b;}" : "=f"(low), "=f"(high) : "r"(word))
#define FLOATS_ushort(word, low, high) \
  low = as_float((word) << 16);        \
  high = as_float((word) & 0xffff0000u)
#define FLOATS JOINED(FLOATS_, MEMORY_key)
// A word of two floats, rounded to nearest.
#define WORD(word, low, high) asm("cvt.rn." MMA_TYPE "x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low))

// Four matrices of 8 x 8 from local memory, each row at the address that one work-item gives.
#define READ_MATRICES(kind, r, address)                                           \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4" kind ".shared.b16 {%0, %1, %2, %3}, [%4];" \
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])                   \
               : "r"(address)                                                     \
               : "memory")
#define MULTIPLY(c, a, b0, b1)                                                            \
  asm("mma.sync.aligned.m16n8k16.row.col.f32." MMA_TYPE "." MMA_TYPE ".f32 "              \
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                   \
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                    \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))

__kernel ATTRIBUTES void mma(ARGUMENTS) {
  __local ushort tiles[2 * TILE_BYTES] __attribute__((aligned(128)));
  const int lane = get_local_id(0) % 32;
  const int b = get_group_id(1) / H;
  const int h = get_group_id(1) % H;
  const float scale = as_float(SCALE);
  __global const ushort* all_keys = (__global const ushort*)key + (b * L * H + h) * D;
  __global const ushort* all_values = (__global const ushort*)value + (b * L * H + h) * W;
  const int masks = ((E == 1 ? 0 : b) * F + (F == 1 ? 0 : h)) * G * S;
  // Of 16 x 8 sums a work-item holds rows lane/4 and lane/4 + 8, columns 2*(lane%4) and the next.
  const int m_first = get_group_id(0) * TILE_M + get_local_id(0) / 32 * 16 + lane / 4;
  const int column = 2 * (lane % 4);
  const int first_mask = masks + (G == 1 ? 0 : min(m_first, M - 1) * S);
  const int second_mask = masks + (G == 1 ? 0 : min(m_first + 8, M - 1) * S);

  uint q[HEAD / 16][4];
#pragma unroll
  for (int i = 0; i < HEAD / 16; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int m = m_first + j % 2 * 8;
      const int d = 16 * i + j / 2 * 8 + column;
      __global const ushort* at = (__global const ushort*)query + ((b * M + min(m, M - 1)) * H + h) * D;
      q[i][j] = m < M && d < D ? at[d] : 0;
      if (m < M && d + 1 < D) q[i][j] |= (uint)at[d + 1] << 16;
    }
  }
  float largest[2] = {-INFINITY, -INFINITY};
  float powers[2] = {0.0f, 0.0f};
  float sum[HEAD / 8][4];
#pragma unroll
  for (int i = 0; i < HEAD / 8; ++i) {
#pragma unroll
    for (int c = 0; c < 4; ++c) sum[i][c] = 0.0f;
  }
  // Keys lie in tiles 0 and 2, values in 1 and 3.
  copy_head_rows(tiles, all_keys, 0, L, D, H * D, ITEMS);
  copy_head_rows(tiles + TILE_BYTES / 2, all_values, 0, L, W, H * W, ITEMS);
  asm volatile("cp.async.commit_group;" ::: "memory");
  int stage = 0;
  for (int l0 = 0; l0 < L; l0 += TILE_L) {
    __local ushort* keys = tiles + stage * TILE_BYTES;
    __local ushort* values = keys + TILE_BYTES / 2;
    stage = 1 - stage;
    if (l0 + TILE_L < L) {
      copy_head_rows(tiles + stage * TILE_BYTES, all_keys, l0 + TILE_L, L, D, H * D, ITEMS);
      copy_head_rows(tiles + stage * TILE_BYTES + TILE_BYTES / 2, all_values, l0 + TILE_L, L, W, H * W, ITEMS);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    barrier(CLK_LOCAL_MEM_FENCE);

    // score[i] is 16 queries by the 8 keys from 8*i on.
    float score[TILE_L / 8][4];
    const uint keys_from = (uint)(size_t)(keys + (lane / 16 * 8 + lane % 8) * HEAD_PITCH + lane / 8 % 2 * 8);
#pragma unroll
    for (int i = 0; i < TILE_L / 16; ++i) {
#pragma unroll
      for (int c = 0; c < 4; ++c) score[2 * i][c] = score[2 * i + 1][c] = 0.0f;
#pragma unroll
      for (int k = 0; k < HEAD / 16; ++k) {
        uint r[4];
        READ_MATRICES("", r, keys_from + 2 * 16 * (i * HEAD_PITCH + k));
        MULTIPLY(score[2 * i], q[k], r[0], r[1]);
        MULTIPLY(score[2 * i + 1], q[k], r[2], r[3]);
      }
    }
    float most[2] = {-INFINITY, -INFINITY};
#pragma unroll
    for (int i = 0; i < TILE_L / 8; ++i) {
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        const int l = l0 + 8 * i + column + c;
        const int s = S == 1 ? 0 : min(l, L - 1);
        const float mask_first = AT_mask(first_mask + s);
        const float mask_second = AT_mask(second_mask + s);
        score[i][c] = l < L ? score[i][c] * scale + mask_first : -INFINITY;
        score[i][c + 2] = l < L ? score[i][c + 2] * scale + mask_second : -INFINITY;
        most[0] = fmax(most[0], score[i][c]);
        most[1] = fmax(most[1], score[i][c + 2]);
      }
    }
    float base[2];
    float rescale[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      // The four work-items of a row.
      most[i] = fmax(most[i], other_item(most[i], 1));
      most[i] = fmax(largest[i], fmax(most[i], other_item(most[i], 2)));
      // Where all scores so far are -INFINITY, nothing is to be subtracted: their exponentials are 0.
      base[i] = most[i] == -INFINITY ? 0.0f : most[i];
      rescale[i] = exp(largest[i] - base[i]);
      largest[i] = most[i];
      powers[i] *= rescale[i];
    }
#pragma unroll
    for (int i = 0; i < TILE_L / 8; ++i) {
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        score[i][c] = LARGEST * exp(score[i][c] - base[c / 2]);
        powers[c / 2] += score[i][c];
      }
    }
#pragma unroll
    for (int i = 0; i < HEAD / 8; ++i) {
#pragma unroll
      for (int c = 0; c < 4; ++c) sum[i][c] *= rescale[c / 2];
    }
    const uint values_from = (uint)(size_t)(values + (lane / 8 % 2 * 8 + lane % 8) * HEAD_PITCH + lane / 16 * 8);
#pragma unroll
    for (int i = 0; i < TILE_L / 16; ++i) {
      uint share[PARTS][4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        float low = score[2 * i + j / 2][j % 2 * 2];
        float high = score[2 * i + j / 2][j % 2 * 2 + 1];
#pragma unroll
        for (int p = 0; p < PARTS; ++p) {
          float low_part;
          float high_part;
          WORD(share[p][j], low, high);
          FLOATS(share[p][j], low_part, high_part);
          low -= low_part;
          high -= high_part;
        }
      }
#pragma unroll
      for (int k = 0; k < HEAD / 16; ++k) {
        uint r[4];
        READ_MATRICES(".trans", r, values_from + 2 * 16 * (i * HEAD_PITCH + k));
#pragma unroll
        for (int p = 0; p < PARTS; ++p) {
          MULTIPLY(sum[2 * k], share[p], r[0], r[1]);
          MULTIPLY(sum[2 * k + 1], share[p], r[2], r[3]);
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    powers[i] += other_item(powers[i], 1);
    powers[i] += other_item(powers[i], 2);
    const int m = m_first + 8 * i;
    if (m >= M) continue;
    const int out = ((b * M + m) * H + h) * W;
#pragma unroll
    for (int k = 0; k < HEAD / 8; ++k) {
      const int w = 8 * k + column;
      const float first = sum[k][2 * i] / powers[i];
      const float second = sum[k][2 * i + 1] / powers[i];
      if (W % 2 == 0) {
        if (w < W) {
          PUT_TWO(MEMORY_dst, dst, (out + w) / 2, ((float2)(EPILOGUE(first, b, h, m, w), EPILOGUE(second, b, h, m, w + 1))));
        }
      } else {
        if (w < W) PUT_dst(out + w, EPILOGUE(first, b, h, m, w));
        if (w + 1 < W) PUT_dst(out + w + 1, EPILOGUE(second, b, h, m, w + 1));
      }
    }
  }
}
#undef ITEMS
#undef TILE_BYTES
#undef MMA_TYPE_half
#undef MMA_TYPE_ushort
#undef PARTS_half
#undef PARTS_ushort
#undef JOINED_
#undef JOINED
#undef MMA_TYPE
#undef PARTS
#undef LARGEST_half
#undef LARGEST_ushort
#undef LARGEST
#undef FLOATS_half
#undef FLOATS_ushort
#undef FLOATS
#undef WORD
#undef READ_MATRICES
#undef MULTIPLY
