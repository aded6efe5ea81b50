// SPDX-License-Identifier: Apache-2.0
//
// top_k.groups: dst[m,k,n] = the K largest src[m,l,n] along l in their order, or with SMALLEST 1 the K smallest; with
// INDICES 1 their l in place of them. For GPUs: few results.
//
//   src(m, l, n)   through accessors     dst  MKN   (m*K + k)*N + n
//
//        row [ ..... 9 .. 5 .... ]       a work-group: one row. What comes before the last of the K best so far is put
//                    v    v              behind them in local memory. Once that is full it is sorted, and K are left
//        [ K best  | 9    5    ]
//
// Of equal elements the first comes first. A NaN comes before every number where the largest are wanted, and after
// it where the smallest are. In which order work-items put elements into local memory does not matter: their order is
// that of their values and places.
//
// Tunables: LOCAL, work-items of a work-group; CHUNK, elements in local memory (a power of 2).
// Assumes: elements of dst are countable in 31 bits.
__kernel ATTRIBUTES void groups(ARGUMENTS) {
  __local TYPE_src values[CHUNK];
  __local int places[CHUNK];
  __local int size;
  const int item = get_local_id(0);
  const int rows = K == 0 ? 0 : M * N;
  // The whole work-group goes round together, since it meets at barriers.
  for (int r = get_group_id(1); r < rows; r += get_num_groups(1)) {
    const int m = r / N;
    const int n = r % N;
    int count = 0;
    TYPE_src last = 0;
    if (item == 0) size = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int start = 0; start < L;) {
      const int is_full = count == K;
      do {
        const int l = start + item;
        if (l < L) {
          const TYPE_src value = LOAD_src(m, l, n);
          if (!is_full || BEFORE(value, last)) {
            const int at = atomic_inc(&size);
            values[at] = value;
            places[at] = l;
          }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        count = size;
        barrier(CLK_LOCAL_MEM_FENCE);
        start += LOCAL;
      } while (start < L && count <= CHUNK - LOCAL);
      sort_chunk(values, places, item, count);
      count = min(count, K);
      last = values[K - 1];
      if (item == 0) size = count;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int k = item; k < K; k += LOCAL) {
#if INDICES
      PUT_dst((m * K + k) * N + n, (TYPE_dst)places[k]);
#else
      PUT_dst((m * K + k) * N + n, values[k]);
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
