// SPDX-License-Identifier: Apache-2.0
//
// conv2d.groups_patch: dst[n,o,oh,ow] = EPILOGUE(sum over i, kh, kw of
//     src[n, o/(O/G)*I + i, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[o,i,kh,kw]), for GPUs
//
//   src(n, c, h, w), weights(o, i, kh, kw), dst(n, o, oh, ow)   through accessors
//
//        src, channel i of the group            OUTPUTS outputs of one group
//          h  [x x x x x x]                     o      w ---->  [+ + + +]
//          |  [x x x x x x]   each element      o + 1  w ---->  [+ + + +]   PATCH neighbours of a row
//          v  [x x x x x x]   read once for     o + 2  w ---->  [+ + + +]
//                             all of them       o + 3  w ---->  [+ + + +]
//
// One work-item computes the patch on the right. A work-group's outputs are the same, so that its
// work-items read the same weights at the same time; they differ in their pixels, numbered along
// ow / PATCH, oh, n, and take further ones until all are done.
//
// Edges: in place of outputs that the group does not have its last one is computed.
//
// Tunables: OUTPUTS, PATCH; LOCAL, work-items of a work-group.
// Assumes: elements of dst are countable in 31 bits.
__kernel ATTRIBUTES void groups_patch(ARGUMENTS) {
  const int group_outputs = O / G;
  const int tiles = (group_outputs + OUTPUTS - 1) / OUTPUTS;
  const int group = get_global_id(1) / tiles;
  const int first = get_global_id(1) % tiles * OUTPUTS;
  const int o0 = group * group_outputs + first;
  const int outputs = min(group_outputs - first, OUTPUTS);
  const int patches = (OW + PATCH - 1) / PATCH;
  const int all = N * OH * patches;
  for (int e = get_global_id(0); e < all; e += get_global_size(0)) {
    const int ow = e % patches * PATCH;
    const int oh = e / patches % OH;
    const int n = e / patches / OH;

    TYPE_acc sum[OUTPUTS][PATCH];
#pragma unroll
    for (int t = 0; t < OUTPUTS; ++t) {
#pragma unroll
      for (int j = 0; j < PATCH; ++j) sum[t][j] = 0;
    }
    for (int i = 0; i < I; ++i) {
      for (int kh = 0; kh < KH; ++kh) {
        const int h = oh * SH + kh * DH - PT;
        if (h < 0 || h >= H) continue;
        for (int kw = 0; kw < KW; ++kw) {
          TYPE_acc pixel[PATCH];
#pragma unroll
          for (int j = 0; j < PATCH; ++j) {
            const int w = (ow + j) * SW + kw * DW - PL;
            pixel[j] = 0;
            if (w >= 0 && w < W) pixel[j] = LOAD_src(n, group * I + i, h, w);
          }
#pragma unroll
          for (int t = 0; t < OUTPUTS; ++t) {
            const TYPE_acc weight = LOAD_weights(o0 + min(t, outputs - 1), i, kh, kw);
#pragma unroll
            for (int j = 0; j < PATCH; ++j) sum[t][j] += pixel[j] * weight;
          }
        }
      }
    }
#pragma unroll
    for (int t = 0; t < OUTPUTS; ++t) {
#pragma unroll
      for (int j = 0; j < PATCH; ++j) {
        if (t < outputs && ow + j < OW) {
          STORE_dst(n, o0 + t, oh, ow + j, EPILOGUE(sum[t][j], n, o0 + t, oh, ow + j));
        }
      }
    }
  }
}
