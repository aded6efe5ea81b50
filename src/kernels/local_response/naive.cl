// SPDX-License-Identifier: Apache-2.0
//
// local_response.naive: dst[n,c,s] = EPILOGUE(src[n,c,s] / (b + a / SIZE * sum of src[n,j,s]^2) ^ p), summed over the
// channels j from c - (SIZE - 1) / 2 to c + SIZE / 2 that exist, for any formats.
//
//   src(n, c, s), dst(n, c, s)   through accessors
//
//               s ->
//      c - 1  [ +  +  + ]
//      c      [ +  +  + ]    SIZE 3; one work-item: one element of dst and the squares of the channels around
//      c + 1  [ +  +  + ]    it; elements are counted along s, c, n and spread over two dimensions of 32,768
//                            at most
//
// a, p and b are what the bits in ALPHA, BETA and BIAS say.
//
// Tunables: LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits.
__kernel ATTRIBUTES void naive(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)(N * C * S)) return;
  const int s = e % S;
  const int c = e / S % C;
  const int n = e / S / C;
  const int end = min(c + SIZE / 2 + 1, C);
  TYPE_acc sum = 0;
  for (int j = max(c - (SIZE - 1) / 2, 0); j < end; ++j) {
    const TYPE_acc value = LOAD_src(n, j, s);
    sum += value * value;
  }
  const TYPE_acc size = pow(as_float(BIAS) + as_float(ALPHA) / SIZE * sum, as_float(BETA));
  const TYPE_acc result = LOAD_src(n, c, s) / size;
  STORE_dst(n, c, s, EPILOGUE(result, n, c, s));
}
