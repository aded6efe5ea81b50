// SPDX-License-Identifier: Apache-2.0
//
// cumulative_sum.groups: dst[m,l,n] = EPILOGUE(sum of src[m,j,n] over all j <= l), for GPUs; with EXCLUSIVE 1 over
// j < l, with REVERSE 1 over j >= l, with both over j > l.
//
//   src(m, l, n), dst(m, l, n)   through accessors
//
//        row    [ part 0 | part 1 | part 2 | part 3 | ... ]     a work-group: a part of a row, LOCAL * EACH elements
//                 \ all before it /   ^^^^ its own
//
// No work-group waits for another: each adds up all that comes before its part by itself, EACH neighbouring strides of
// elements under way. Of its own part each work-item adds up EACH neighbours. The sums of the work-items before it are
// found in local memory, over 1, 2, 4 ... work-items. REVERSE counts from the end of the row.
//
// Tunables: LOCAL, work-items of a work-group; EACH, neighbours of a work-item.
#define PART (LOCAL * EACH)
// The place of element i, counted in the order of the sum.
#define AT(i) (REVERSE ? L - 1 - (i) : (i))

__kernel ATTRIBUTES void groups(ARGUMENTS) {
  __local TYPE_acc sums[2][LOCAL];
  const int item = get_local_id(0);
  const int parts = (L + PART - 1) / PART;
  // The whole work-group goes round together, since it meets at barriers.
  for (int unit = get_group_id(1); unit < M * N * parts; unit += get_num_groups(1)) {
    const int row = unit / parts;
    const int m = row / N;
    const int n = row % N;
    const int first = unit % parts * PART;
    TYPE_acc before = 0;
    for (int start = item; start < first; start += PART) {
      TYPE_acc values[EACH];
#pragma unroll
      for (int i = 0; i < EACH; ++i) values[i] = LOAD_src(m, AT(start + i * LOCAL), n);
#pragma unroll
      for (int i = 0; i < EACH; ++i) before += values[i];
    }
    TYPE_acc own[EACH];
    TYPE_acc total = 0;
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
      const int at = first + item * EACH + i;
      own[i] = 0;
      if (at < L) own[i] = LOAD_src(m, AT(at), n);
      total += own[i];
    }
    sums[0][item] = total;
    sums[1][item] = before;
    for (int half_items = LOCAL / 2; half_items > 0; half_items /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      if (item < half_items) sums[1][item] += sums[1][item + half_items];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const TYPE_acc all_before = sums[1][0];
    barrier(CLK_LOCAL_MEM_FENCE);
    int now = 0;
    for (int apart = 1; apart < LOCAL; apart *= 2) {
      TYPE_acc sum = sums[now][item];
      if (item >= apart) sum += sums[now][item - apart];
      now = 1 - now;
      sums[now][item] = sum;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    TYPE_acc sum = all_before;
    if (item > 0) sum += sums[now][item - 1];
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
      const int at = first + item * EACH + i;
      if (at >= L) continue;
      const TYPE_acc sum_before = sum;
      sum += own[i];
      const TYPE_acc result = EXCLUSIVE ? sum_before : sum;
      STORE_dst(m, AT(at), n, EPILOGUE(result, m, AT(at), n));
    }
    // The next part's may only come when these have been read.
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
#undef PART
#undef AT
