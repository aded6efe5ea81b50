// SPDX-License-Identifier: Apache-2.0
//
// conv2d.depthwise_planes: dst[n,o,oh,ow] = EPILOGUE(sum over i, kh, kw of
//     src[n, o/(O/G)*I + i, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL] * weights[o,i,kh,kw]), for CPUs
//
//   src      NCHW   ((n*C + c)*H + h)*W + w
//   weights  OIHW   ((o*I + i)*KH + kh)*KW + kw
//   dst      NOHW   ((n*O + o)*OH + oh)*OW + ow
//
// A work-group is one work-item, which takes tiles of planes one after another, each as one long row
// (shared/planes.clh has the drawing). Padding is zero. A depthwise filter over a volume has several planes,
// which are added up one after the other.
//
// Tunables: LANES, floats of a vector; SCRATCH, elements of the copy; COLUMNS of a tile at most; GROUPS,
// work-items for each compute unit at most.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory.
// `a * b + c` is left to the compiler to contract into one operation: PoCL's mad() is two.
__kernel ATTRIBUTES void depthwise_planes(ARGUMENTS) {
  __local float copy[SCRATCH];
  __local float sums[SCRATCH];
  const plane_tiles t = tiles_of(OH, OW);
  fill_copy(copy, t, 0.0f);

  const int tiles = N * O * t.down * t.across;
  const int last = share(tiles, get_global_id(0) + 1, get_global_size(0));
  for (int tile = share(tiles, get_global_id(0), get_global_size(0)); tile < last; ++tile) {
    const tile_place at = place_of(t, tile);
    const int o = at.plane % O;
    const int n = at.plane / O;
    const int rows = min(t.rows, OH - at.oh0);
    for (int i = 0; i < I; ++i) {
      float filter[KH * KW];
#pragma unroll
      for (int k = 0; k < KH * KW; ++k) filter[k] = number_at(weights + (o * I + i) * KH * KW + k);
      const int image = (n * C + o / (O / G) * I + i) * (H * W);
      copy_tile(copy, t, at, src, N * C * H * W, image, H, W, 0.0f);

      for (int x = 0; x < rows * t.pitch - MORE_COLUMNS; x += LANES) {
        vector sum = 0.0f;
        if (i > 0) sum = *(__local const vector*)(sums + x);
#pragma unroll
        for (int kh = 0; kh < KH; ++kh) {
#pragma unroll
          for (int kw = 0; kw < KW; ++kw) {
            sum += *(__local const vector*)(copy + x + position_in_copy(t, kh, kw)) *
                   filter[kh * KW + kw];
          }
        }
        *(__local vector*)(sums + x) = sum;
      }
    }

    for (int r = 0; r < rows; ++r) {
      __global MEMORY_dst* out = dst + (at.plane * OH + at.oh0 + r) * OW + at.ow0;
      for (int c = 0; c < min(t.columns, OW - at.ow0); ++c) {
        put_number(out + c, EPILOGUE(sums[r * t.pitch + c], n, o, at.oh0 + r, at.ow0 + c));
      }
    }
  }
}
