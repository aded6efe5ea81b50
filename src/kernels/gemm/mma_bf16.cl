// SPDX-License-Identifier: Apache-2.0
//
// gemm.mma_bf16: dst[m,n] = sum over k of lhs[m,k] * rhs[k,n] on the matrix units of NVIDIA GPUs, operands in
// bfloat16, sums in f32.
//
//   lhs  R   m*K_pad + k   bf16
//   rhs  C   n*K_pad + k   bf16
//   dst  R   m*N_pad + n   f32
//
//                        rhs   n0          n0+64
//                          k0  [8|8|8|8|8|8|8|8]     32 work-items (a warp) compute a patch of 32 x 64: in each
//                       k0+16                        step of 16 along k, two pieces of lhs of 16 x 16 times
//        lhs   k0 k0+16                              eight of rhs of 16 x 8, sixteen instructions
//        m0     [16x16]        [                ]
//               [16x16]        [                ]    a work-group: WARPS patches, one below the other
//
// In a piece, work-item `lane` holds, with g = lane / 4 and t = lane % 4, rows g and g + 8 and columns
// 2t, 2t+1, 2t+8 and 2t+9 of lhs, two neighbours in a register; of rhs column g and the same k; of the
// result rows g and g + 8, columns 2t and 2t + 1. Both operands lie with k innermost, so that every
// register is one load of 32 bits.
//
// Assumes: M_pad, N_pad, K_pad are multiples of 32 * WARPS, 64 and 16; both operands are zero where k >= K.
// A driver that takes PTX within OpenCL C, for sm_80 or later.
// Tunables: WARPS of a work-group.
// Source: NVIDIA, "Parallel Thread Execution ISA", mma.m16n8k16 with .bf16.
#define STEP 16

__kernel ATTRIBUTES void mma_bf16(ARGUMENTS) {
  const int lane = get_local_id(0);
  const int g = lane / 4;
  const int t = lane % 4;
  const int n0 = get_group_id(0) * 64;
  const int m0 = (get_group_id(1) * WARPS + get_local_id(1)) * 32;
  // Pairs of neighbours along k.
  __global const uint* lhs_pairs = (__global const uint*)lhs + (m0 + g) * (K_pad / 2) + t;
  __global const uint* rhs_pairs = (__global const uint*)rhs + (n0 + g) * (K_pad / 2) + t;
  float sum[2][8][4];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
#pragma unroll
      for (int c = 0; c < 4; ++c) sum[i][j][c] = 0.0f;
    }
  }
  for (int pair = 0; pair < K_pad / 2; pair += STEP / 2) {
    uint a[2][4];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      __global const uint* upper = lhs_pairs + i * 16 * (K_pad / 2) + pair;
      __global const uint* lower = upper + 8 * (K_pad / 2);
      a[i][0] = upper[0];
      a[i][1] = lower[0];
      a[i][2] = upper[4];
      a[i][3] = lower[4];
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const uint b0 = rhs_pairs[j * 8 * (K_pad / 2) + pair];
      const uint b1 = rhs_pairs[j * 8 * (K_pad / 2) + pair + 4];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(sum[i][j][0]), "+f"(sum[i][j][1]), "+f"(sum[i][j][2]), "+f"(sum[i][j][3])
            : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b0), "r"(b1));
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      __global float* out = dst + (m0 + i * 16 + g) * N_pad + n0 + j * 8 + 2 * t;
      *(__global float2*)out = (float2)(sum[i][j][0], sum[i][j][1]);
      *(__global float2*)(out + 8 * N_pad) = (float2)(sum[i][j][2], sum[i][j][3]);
    }
  }
}
#undef STEP
