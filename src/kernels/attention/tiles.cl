// SPDX-License-Identifier: Apache-2.0
//
// attention.tiles, attention.tiles_32, attention.tiles_low: dst[b,h,m,w] = EPILOGUE(sum over l of share[m,l] *
// value[b,h,l,w]), where share is the softmax over l of SCALE * sum over d of query[b,h,m,d] * key[b,h,l,d] +
// mask[e,f,g,s], for GPUs.
//
//   query, dst  BMHD, BMHW   ((b*M + m)*H + h)*D + d     as the products before leave them: no head is
//   key, value  BLHD, BLHW   ((b*L + l)*H + h)*D + d     brought together in memory first
//   mask        EFGS         ((e*F + f)*G + g)*S + s
//
//                                  l0   keys   l0+TILE_L
//                                 [ d by d, in local     ]      A work-group has TILE_M queries of one head, and goes
//        m0        queries        [ memory               ]      along the keys, TILE_L at a time. A work-item computes
//        m0+TILE_M [ d by d ]     [  . [4 x 4] scores .  ]      4 x 4 scores of them. Their exponentials go to local
//                                                               memory, where the keys were.
//                                  values of l0 ...
//                                 [ W columns            ]      Then it multiplies them by the values: its sums are
//        m0        shares         [  . [4 x HEAD/ITEMS_X]]      4 rows of HEAD / ITEMS_X columns of dst.
//
// The largest score of a query so far is subtracted from all. Where a later tile has a larger one, sums so far are
// multiplied by exp(former - new). Each work-item sums the exponentials that it made, and a row's work-items add these
// sums up in the end, when dst is divided by them. A NaN anywhere in a query's scores makes all of its results NaN.
//
// Edges: queries that do not exist are zeros, and not stored. Keys that do not exist have scores of -INFINITY,
// and values of 0.
//
// Tunables: TILE_M queries of a work-group (a multiple of 4); TILE_L keys of a step (of 4); HEAD, the most columns of
// queries and values (of TILE_L).
// Assumes: elements of each operand are countable in 31 bits.
#define ITEMS_X (TILE_L / 4)
#define ITEMS (TILE_M / 4 * ITEMS_X)
#define PATCH (HEAD / TILE_L)
// Rows in local memory have a vector more than needed, so that what is written down a column falls into different banks.
#define QUERY_PITCH (TILE_M + 4)
#define KEY_PITCH (TILE_L + 4)
#define KEY_FLOATS (HEAD * KEY_PITCH)
#define SHARE_FLOATS (TILE_L * QUERY_PITCH)

__kernel ATTRIBUTES void tiles(ARGUMENTS) {
  __local float queries[HEAD * QUERY_PITCH] __attribute__((aligned(16)));
  __local float keys[KEY_FLOATS > SHARE_FLOATS ? KEY_FLOATS : SHARE_FLOATS] __attribute__((aligned(16)));
  __local float values[TILE_L * HEAD] __attribute__((aligned(16)));
  __local float4 found[ITEMS_X][TILE_M / 4];
  __local float* shares = keys;
  const int item = get_local_id(0);
  const int x = item % ITEMS_X;
  const int y = item / ITEMS_X;
  const int m0 = get_group_id(0) * TILE_M;
  const int b = get_group_id(1) / H;
  const int h = get_group_id(1) % H;
  const float scale = as_float(SCALE);
  const int all_keys = (b * L * H + h) * D;
  const int all_values = (b * L * H + h) * W;
  const int masks = ((E == 1 ? 0 : b) * F + (F == 1 ? 0 : h)) * G * S;

  for (int i = item; i < TILE_M * HEAD; i += ITEMS) {
    const int m = m0 + i / HEAD;
    const int d = i % HEAD;
    queries[d * QUERY_PITCH + i / HEAD] = m < M && d < D ? AT_query(((b * M + m) * H + h) * D + d) * scale : 0.0f;
  }
  float4 largest = -INFINITY;
  float4 powers = 0.0f;
  float4 sum[4][PATCH];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < PATCH; ++j) sum[i][j] = 0.0f;
  }
  for (int l0 = 0; l0 < L; l0 += TILE_L) {
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 8
    for (int i = item; i < TILE_L * HEAD; i += ITEMS) {
      const int l = l0 + i / HEAD;
      const int d = i % HEAD;
      keys[d * KEY_PITCH + i / HEAD] = l < L && d < D ? AT_key(all_keys + l * H * D + d) : 0.0f;
      // Shares of keys that do not exist are 0, which an infinite value would make NaN.
      values[i] = l < L && d < W ? AT_value(all_values + l * H * W + d) : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // score[i] has the four queries of key 4*x + i.
    float4 score[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) score[i] = 0.0f;
#pragma unroll 8
    for (int d = 0; d < D; ++d) {
      const float4 down = *(__local float4*)(queries + d * QUERY_PITCH + 4 * y);
      const float4 across = *(__local float4*)(keys + d * KEY_PITCH + 4 * x);
      score[0] += down * across.s0;
      score[1] += down * across.s1;
      score[2] += down * across.s2;
      score[3] += down * across.s3;
    }
    float4 most = -INFINITY;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int l = l0 + 4 * x + i;
      if (l < L) {
        const int s = S == 1 ? 0 : l;
        const int m = m0 + 4 * y;
        score[i] += G == 1 ? (float4)(AT_mask(masks + s))
                           : (float4)(AT_mask(masks + min(m, M - 1) * S + s), AT_mask(masks + min(m + 1, M - 1) * S + s),
                                      AT_mask(masks + min(m + 2, M - 1) * S + s), AT_mask(masks + min(m + 3, M - 1) * S + s));
      } else {
        score[i] = -INFINITY;
      }
      most = fmax(most, score[i]);
    }
    found[x][y] = most;
    barrier(CLK_LOCAL_MEM_FENCE);
    most = largest;
#pragma unroll
    for (int i = 0; i < ITEMS_X; ++i) most = fmax(most, found[i][y]);
    // Where all scores so far are -INFINITY, nothing is to be subtracted: their exponentials are 0.
    const float4 base = select(most, (float4)(0.0f), most == -INFINITY);
    const float4 rescale = exp(largest - base);
    largest = most;
    powers *= rescale;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float4 power = exp(score[i] - base);
      powers += power;
      *(__local float4*)(shares + (4 * x + i) * QUERY_PITCH + 4 * y) = power;
    }
#pragma unroll
    for (int j = 0; j < PATCH; ++j) {
      sum[0][j] *= rescale.s0;
      sum[1][j] *= rescale.s1;
      sum[2][j] *= rescale.s2;
      sum[3][j] *= rescale.s3;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 8
    for (int l = 0; l < TILE_L; ++l) {
      const float4 down = *(__local float4*)(shares + l * QUERY_PITCH + 4 * y);
#pragma unroll
      for (int j = 0; j < PATCH; ++j) {
        const float4 across = *(__local float4*)(values + l * HEAD + 4 * (j * ITEMS_X + x));
        sum[0][j] += down.s0 * across;
        sum[1][j] += down.s1 * across;
        sum[2][j] += down.s2 * across;
        sum[3][j] += down.s3 * across;
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  found[x][y] = powers;
  barrier(CLK_LOCAL_MEM_FENCE);
  powers = 0.0f;
  for (int i = 0; i < ITEMS_X; ++i) powers += found[i][y];
  const float whole[4] = {powers.s0, powers.s1, powers.s2, powers.s3};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int m = m0 + 4 * y + i;
    if (m >= M) continue;
    const int out = ((b * M + m) * H + h) * W;
#pragma unroll
    for (int j = 0; j < PATCH; ++j) {
      const int w = 4 * (j * ITEMS_X + x);
      const float4 result = sum[i][j] / whole[i];
      if (w < W) PUT_dst(out + w, EPILOGUE(result.s0, b, h, m, w));
      if (w + 1 < W) PUT_dst(out + w + 1, EPILOGUE(result.s1, b, h, m, w + 1));
      if (w + 2 < W) PUT_dst(out + w + 2, EPILOGUE(result.s2, b, h, m, w + 2));
      if (w + 3 < W) PUT_dst(out + w + 3, EPILOGUE(result.s3, b, h, m, w + 3));
    }
  }
}
#undef ITEMS_X
#undef ITEMS
#undef PATCH
#undef QUERY_PITCH
#undef KEY_PITCH
#undef KEY_FLOATS
#undef SHARE_FLOATS
