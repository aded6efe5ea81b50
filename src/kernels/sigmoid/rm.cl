// SPDX-License-Identifier: Apache-2.0
//
// sigmoid.rm: dst[m,n] = 1 / (1 + exp(-src[m,n])), row-major.
//
//   src, dst  R   m * N + n
//
//           n
//       m  [x| | | ]     one work-item: one element. Numbered along m first, neighbours lie N elements
//     m+1  [x| | | ]     apart: the worst order there is
//
// Tunables: LOCAL_M, LOCAL_N, the work-group: 64 x 1 stands for a driver's choice; 4 x 16 is R17's.
// Source: R17, section 9.2, "Row Major".
__kernel ATTRIBUTES void sigmoid_rm(ARGUMENTS) {
  const int m = get_global_id(0);
  const int n = get_global_id(1);
  if (m >= M || n >= N) return;
  const float value = src[m * N + n];
  dst[m * N + n] = 1.0f / (1.0f + exp(-value));
}
