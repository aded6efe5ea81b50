// SPDX-License-Identifier: Apache-2.0
//
// suppression.vectors: dst[b,c,m] = 1 where greedy non-maximum suppression keeps candidate m, else 0
// (src/problems/movement/suppression.cpp), for CPUs.
//
//   boxes  BNQ   (b*N + n)*4 + q     order, dst  BCM   (b*C + c)*M + m
//   count(b, c), threshold(0), most(0)   through accessors
//
//            m ... m + CHUNK - 1
//     kept  [ LANES ][ LANES ] ...     a work-item: one class of one image. Boxes that are kept strike out what they
//     kept  [ LANES ][ LANES ] ...     suppress of a chunk of candidates, vectors of them at a time. The first one that
//      ...                             is left is kept and strikes out others of the chunk, then the next one is
//
// Until all chunks are done dst[b,c] lists which candidates are kept. Then it becomes what it must be, from the end: the
// k-th candidate that is kept is not before k.
//
// Tunables: LANES, floats of a vector; CHUNK, candidates.
// Assumes: elements of boxes and dst are countable in 31 bits.
__kernel ATTRIBUTES void vectors(ARGUMENTS) {
  const int row = get_global_id(1) * get_global_size(0) + get_global_id(0);
  if (row >= B * C) return;
  const int b = row / C;
  const int first = row * M;
  const float limit = LOAD_threshold(0);
  const float half_step = half_step_above(limit);
  const int candidates = (int)clamp((long)LOAD_count(b, row % C), 0L, (long)M);
  const int most_kept = (int)clamp((long)LOAD_most(0), 0L, (long)M);
  int kept = 0;
  for (int start = 0; start < candidates && kept < most_kept; start += CHUNK) {
    box_chunk chunk;
    for (int i = 0; i < CHUNK; ++i) {
      const long n = start + i < candidates ? AT_order(first + start + i) : -1;
      const int is_box = n >= 0 && n < N;
      put_box(&chunk, i, ordered_corners(is_box ? AT4_boxes(b * N + (int)n) : (float4)(0.0f)));
      set_struck(&chunk, i, is_box - 1);
    }
    for (int k = 0; k < kept; ++k) {
      if (k % 8 == 0 && are_all_struck(&chunk)) break;
      const int n = AT_order(first + AT_dst(first + k));
      strike_out(&chunk, 0, ordered_corners(AT4_boxes(b * N + n)), limit, half_step);
    }
    for (int i = 0; i < CHUNK && kept < most_kept; ++i) {
      if (is_struck(&chunk, i)) continue;
      const int n = AT_order(first + start + i);
      strike_out(&chunk, i / LANES, ordered_corners(AT4_boxes(b * N + n)), limit, half_step);
      PUT_dst(first + kept, start + i);
      ++kept;
    }
  }
  for (int m = kept; m < M; ++m) PUT_dst(first + m, 0);
  for (int k = kept - 1; k >= 0; --k) {
    const int m = AT_dst(first + k);
    PUT_dst(first + k, 0);
    PUT_dst(first + m, 1);
  }
}
