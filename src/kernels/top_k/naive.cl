// SPDX-License-Identifier: Apache-2.0
//
// top_k.naive: dst[m,k,n] = the K largest src[m,l,n] along l in their order, or with SMALLEST 1 the K smallest; with
// INDICES 1 their l in place of them. For any formats.
//
//   src(m, l, n), dst(m, k, n)   through accessors
//
//           l ->
//        n [ 5 9 2 9 ]   one work-item: one element of src; it counts the elements that come before it, which is its
//            2 0 3 1     place in dst, and stores itself there if that is below K. Elements are counted along n, l,
//                        m and spread over two dimensions of 32,768 at most
//
// Of equal elements the first comes first. A NaN comes before every number where the largest are wanted, and after
// it where the smallest are.
//
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements of src are countable in 31 bits.
__kernel ATTRIBUTES void naive(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)(M * L * N)) return;
  const int n = e % N;
  const int l = e / N % L;
  const int m = e / N / L;
  const TYPE_src own = LOAD_src(m, l, n);
  int place = 0;
  for (int j = 0; j < L; ++j) {
    const TYPE_src other = LOAD_src(m, j, n);
    place += BEFORE(other, own) || (j < l && !BEFORE(own, other)) ? 1 : 0;
  }
  if (place >= K) return;
#if INDICES
  STORE_dst(m, place, n, (TYPE_dst)l);
#else
  STORE_dst(m, place, n, own);
#endif
}
