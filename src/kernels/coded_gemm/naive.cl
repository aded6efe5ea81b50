// SPDX-License-Identifier: Apache-2.0
//
// coded_gemm.naive: dst[m,n] = EPILOGUE(sum over k of lhs[m,k] * (code[k,n] - zeros[k/BLOCK,n]) * scales[k/BLOCK,n]).
//
// The product with weights in codes that is always possible, with operands in any order.
//
//   lhs(m, k), codes(p, n), scales(g, n), zeros(g, n), dst(m, n)   through accessors
//   codes(p, n)   a byte: k = p*CODES in its lowest BITS, k+1 above it, ...
//
//                  codes  n
//                      p  |         one work-item: one element of dst
//        lhs  k -->       v
//          m  . . . .    [x]
//
// Work-items are numbered along n, then m, and spread over two dimensions of 32,768 at most.
//
// Tunables: LOCAL, work-items of a work-group.
#define CODES (8 / BITS)
__kernel ATTRIBUTES void coded_naive(ARGUMENTS) {
  const uint e = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (e >= (uint)(M * N)) return;
  const int m = e / N;
  const int n = e % N;
  float total = 0.0f;
  for (int k0 = 0; k0 < K; k0 += BLOCK) {
    const int zero = LOAD_zeros(k0 / BLOCK, n);
    float sum = 0.0f;
    for (int k = k0; k < min(k0 + BLOCK, K); ++k) {
      const int code = (int)LOAD_codes(k / CODES, n) >> k % CODES * BITS & ((1 << BITS) - 1);
      sum += LOAD_lhs(m, k) * (float)(code - zero);
    }
    total += sum * LOAD_scales(k0 / BLOCK, n);
  }
  STORE_dst(m, n, EPILOGUE(total, m, n));
}
#undef CODES
