// SPDX-License-Identifier: Apache-2.0
//
// sigmoid.cm, sigmoid.cm_4x16: dst[m,n] = 1 / (1 + exp(-src[m,n])), column-major.
//
//   src, dst  C   n * M + m
//
//           n
//       m  [0| | | ]     one work-item: one element. Numbered along m first, neighbours read neighbours
//     m+1  [1| | | ]
//
// Tunables: LOCAL_M, LOCAL_N, the work-group: 64 x 1 stands for a driver's choice; 4 x 16 is R17's.
// Source: R17, section 9.2, "Column Major" and "Grouped CM".
__kernel ATTRIBUTES void sigmoid_cm(ARGUMENTS) {
  const int m = get_global_id(0);
  const int n = get_global_id(1);
  if (m >= M || n >= N) return;
  const float value = src[n * M + m];
  dst[n * M + m] = 1.0f / (1.0f + exp(-value));
}
