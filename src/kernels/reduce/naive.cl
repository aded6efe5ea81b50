// SPDX-License-Identifier: Apache-2.0
//
// reduce.naive: dst[p,m,n] = EPILOGUE(FINISHED(MAPPED(src[m,l,n]) of all l of part p, COMBINED)), for any
// formats.
//
//   src(m, l, n), dst(p, m, n)   through accessors
//
//              n ->
//      l  [ x  x  x  x ]    one work-item: one result, the elements of its part of a column in their
//      |  [ x  x  x  x ]    order; results are counted along n, m, p and spread over two dimensions
//      v  [ x  x  x  x ]    of 32,768 at most
//      ------------------
//         [ r  r  r  r ]
//
// Blocks of 64 elements are combined first: a long sum that is added up one by one loses digits.
//
// MAPPED, COMBINED, START and FINISHED are what the problem's structure says (MAP, COMBINE, MEAN).
//
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits.
__kernel ATTRIBUTES void naive(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)(P * M * N)) return;
  const int n = e % N;
  const int m = e / N % M;
  const int p = e / N / M;
  const int first = p * DEPTH;
  const int end = min(first + DEPTH, L);
  TYPE_acc total = START;
  for (int block = first; block < end; block += 64) {
    const int block_end = min(block + 64, end);
    TYPE_acc part = START;
    for (int l = block; l < block_end; ++l) {
      const TYPE_acc value = LOAD_src(m, l, n);
      const TYPE_acc mapped = MAPPED(value);
      part = COMBINED(part, mapped);
    }
    total = COMBINED(total, part);
  }
  const TYPE_acc result = FINISHED(total);
  STORE_dst(p, m, n, EPILOGUE(result, p, m, n));
}
