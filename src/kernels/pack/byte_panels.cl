// SPDX-License-Identifier: Apache-2.0
//
// pack.byte_panels_4_64 and its kin: dst[k, n] = src[k, n], bytes, into the formats of integer_gemm.quads and .pairs. For
// CPUs.
//
//   src  R                    k*D1 + n
//   dst  C_{DEPTH}_{WIDTH}_C  (n/WIDTH)*(WIDTH*K_pad) + (k/DEPTH)*(DEPTH*WIDTH) + (n%WIDTH)*DEPTH + k%DEPTH
//
//             n  n+1                       one step: DEPTH rows of WIDTH bytes, of which each column becomes a number of
//        k   [a   b ..]                    DEPTH bytes
//        k+1 [e   f ..]   --->  [a e i m][b f j n] ...
//        k+2 [i   j ..]
//        k+3 [m   n ..]                    one work-item: STEPS such steps of one panel, one below the other
//
// What lies outside of src is 0.
//
// Tunables: DEPTH and WIDTH of the format; STEPS of a work-item.
// Source: gemmlowp packs in the same order (G16), with cells of other sizes.
#define BYTES 16
#if DEPTH == 4
#define COLUMN_TYPE uint
#else
#define COLUMN_TYPE ushort
#endif

__kernel ATTRIBUTES void byte_panels(ARGUMENTS) {
  typedef uchar bytes_of_row __attribute__((ext_vector_type(BYTES), aligned(1)));
  typedef COLUMN_TYPE columns __attribute__((ext_vector_type(BYTES), aligned(1)));
  const int steps = dst_pad0 / DEPTH;
  const int parts = (steps + STEPS - 1) / STEPS;
  const int panels = dst_pad1 / WIDTH;
  for (int unit = get_global_id(0); unit < panels * parts; unit += get_global_size(0)) {
    const int n0 = unit / parts * WIDTH;
    const int first = unit % parts * STEPS;
    const int last = min(first + STEPS, steps);
    __global uchar* to = (__global uchar*)dst + n0 * dst_pad0 + first * (DEPTH * WIDTH);
    const int inside = min(D1 - n0, WIDTH);
    for (int step = first; step < last; ++step, to += DEPTH * WIDTH) {
      const int k = step * DEPTH;
      __global const uchar* from = (__global const uchar*)src + k * D1 + n0;
      int n = 0;
      if (k + DEPTH <= D0) {
        for (; n + BYTES <= inside; n += BYTES) {
          columns both = __builtin_convertvector(*(__global const bytes_of_row*)(from + n), columns);
#pragma unroll
          for (int d = 1; d < DEPTH; ++d) {
            both |= __builtin_convertvector(*(__global const bytes_of_row*)(from + d * D1 + n), columns) << (8 * d);
          }
          *(__global columns*)(to + n * DEPTH) = both;
        }
      }
      for (; n < WIDTH; ++n) {
        for (int d = 0; d < DEPTH; ++d) to[n * DEPTH + d] = n < inside && k + d < D0 ? from[d * D1 + n] : 0;
      }
    }
  }
}
#undef COLUMN_TYPE
#undef BYTES
