// SPDX-License-Identifier: Apache-2.0
//
// bias.cm, bias.cm_4x16: dst[m,n] = src[m,n] + bias[m], column-major.
//
//   src, dst  C   n*M + m
//   bias      M   m
//
//           n            one work-item: one element. Numbered along m first, neighbours read neighbours,
//       m  [0| | | ]     of the matrix and of the bias
//     m+1  [1| | | ]
//
// Tunables: LOCAL_M, LOCAL_N, the work-group: 64 x 1 stands for a driver's choice; 4 x 16 is R17's.
// Source: R17, section 9.1, "Column Major" and "Grouped CM".
__kernel ATTRIBUTES void bias_cm(ARGUMENTS) {
  const int m = get_global_id(0);
  const int n = get_global_id(1);
  if (m >= M || n >= N) return;
  dst[n * M + m] = src[n * M + m] + bias[m];
}
