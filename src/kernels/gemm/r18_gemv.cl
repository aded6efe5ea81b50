// SPDX-License-Identifier: Apache-2.0
//
// gemm.r18_gemv: dst[m,0] = EPILOGUE(sum over k of lhs[m,k] * rhs[k,0]): a fully-connected layer of
// one input.
//
//   lhs  R   m*K + k
//   rhs  R   k, one column
//   dst  R   m, one column
//
//        lhs [ k k k k ][ k k k k ] <- one work-item: one row, by products of four with dot();
//        rhs [ k k k k ][ k k k k ]    a work-group: LOCAL rows
//
// Source: R18, section 7.4: matrix times vector in place of matrix times matrix, vectorised.
//
// Tunables: LOCAL, work-items of a work-group.
__kernel ATTRIBUTES void r18_gemv(ARGUMENTS) {
  const int m = get_global_id(0);
  if (m >= M) return;
  __global const float* row = lhs + (size_t)m * K;
  float sum = 0.0f;
  int k = 0;
  for (; k + 4 <= K; k += 4) sum += dot(vload4(0, row + k), vload4(0, rhs + k));
  for (; k < K; ++k) sum += row[k] * rhs[k];
  dst[m] = EPILOGUE(sum, m, 0);
}
