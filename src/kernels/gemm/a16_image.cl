// SPDX-License-Identifier: Apache-2.0
//
// gemm.a16_image, gemm.image_on_buffer: dst[m,n] = sum over k of lhs[m,k] * rhs[k,n], rhs in an image, so that
// it comes through the texture processor and its cache while lhs comes through the other one.
//
//   lhs  R         m*K_pad + k
//   rhs  R_1_4_R   texel (n/4, k): columns x and rows y of an image of RGBA floats
//   dst  R         m*N_pad + n
//
//                        rhs    n . . .
//                            k  [r g b a]      each step: four texels of rhs, eight vectors of lhs; each
//                            :  [r g b a]      element of lhs scales a texel
//        lhs  k . . .       +3  [r g b a]
//          m  [. . . .]         [x x x x]
//          :  [. . . .]         [x x x x]      one work-item: a patch of 8 rows x 4 columns, no local memory
//        m+7  [. . . .]         [x x x x]
//
// A work-group covers LOCAL_M x LOCAL_N patches. At the edges it may be partly filled: patches beyond dst end
// at once, rows beyond M read row M - 1 again and are not stored; columns beyond N are padding of rhs and dst. (In
// the source dimensions are multiples of the patch.) K_pad and N_pad are the row pitches.
//
// The rules for the work-group: as many work-items as the device takes, in the shape that leaves the fewest
// groups partly filled; small products are better off on the CPU.
//
// gemm.image_on_buffer makes the image on the memory of a buffer (C18: one operand as an image made from a
// buffer), whose rows are then as long as the device wants the pitch of images to be.
//
// Tunables: LOCAL_M, LOCAL_N; PITCH, what the pitch of lhs is a multiple of.
// Assumes: K_pad is a multiple of 4; lhs is zero where k >= K, rhs finite there.
// Source: A16 (figure 7); C18, section VII.C.6.
__kernel ATTRIBUTES void a16_image(ARGUMENTS) {
  const int quad = get_global_id(0);
  const int m0 = get_global_id(1) * 8;
  if (4 * quad >= N_pad || m0 >= M) return;
  float4 patch[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) patch[i] = (float4)(0.0f);
  for (int k = 0; k < K_pad; k += 4) {
    float4 across[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) across[i] = AT4_rhs(quad, k + i);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float4 down = AT4_lhs(min(m0 + i, M - 1) * (K_pad / 4) + k / 4);
      patch[i] += down.x * across[0] + down.y * across[1] + down.z * across[2] + down.w * across[3];
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (m0 + i < M) PUT4_dst((m0 + i) * (N_pad / 4) + quad, patch[i]);
  }
}
