// SPDX-License-Identifier: Apache-2.0
//
// bias.rm: dst[m,n] = src[m,n] + bias[m], row-major: the baseline.
//
//   src, dst  R   m*N + n
//   bias      M   m
//
//           n            one work-item: one element. Numbered along m first, neighbours lie N elements
//       m  [x| | | ]     apart: each touches a cache line of its own
//     m+1  [x| | | ]
//
// Tunables: LOCAL_M, LOCAL_N, the work-group; R17 leaves it to the driver, of which 64 x 1 is the usual choice.
// Source: R17, section 6.3 (source 6.3) and section 9.1, "Row Major".
__kernel ATTRIBUTES void bias_rm(ARGUMENTS) {
  const int m = get_global_id(0);
  const int n = get_global_id(1);
  if (m >= M || n >= N) return;
  dst[m * N + n] = src[m * N + n] + bias[m];
}
