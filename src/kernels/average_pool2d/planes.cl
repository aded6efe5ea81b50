// SPDX-License-Identifier: Apache-2.0
//
// average_pool2d.planes: dst[n,c,oh,ow] = EPILOGUE(sum of src[n, c, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL]
// over those (kh, kw) that fall inside the image, divided by a count), for CPUs
//
//   src  NCHW   ((n*C + c)*H + h)*W + w
//   dst  NCHW   ((n*C + c)*OH + oh)*OW + ow
//
// A work-group is one work-item, which takes tiles of planes one after another, each as one long row
// (shared/planes.clh has the drawing). Padding is zero.
//
// The count is rows times columns of the window that lie inside the image (COUNT_PAD 0), or inside
// the image with its padding (COUNT_PAD 1); what hangs over even that never counts.
//
// Tunables: LANES, floats of a vector; SCRATCH, elements of the copy; COLUMNS of a tile at most; GROUPS,
// work-items for each compute unit at most.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory;
// every window has something that counts.
__kernel ATTRIBUTES void average_planes(ARGUMENTS) {
  __local float copy[SCRATCH];
  __local float sums[SCRATCH];
  __local int counts[COLUMNS];
  const plane_tiles t = tiles_of(OH, OW);
  fill_copy(copy, t, 0.0f);

  const int tiles = N * C * t.down * t.across;
  const int last = share(tiles, get_global_id(0) + 1, get_global_size(0));
  for (int tile = share(tiles, get_global_id(0), get_global_size(0)); tile < last; ++tile) {
    const tile_place at = place_of(t, tile);
    copy_tile(copy, t, at, src, N * C * H * W, at.plane * (H * W), H, W, 0.0f);

    const int rows = min(t.rows, OH - at.oh0);
    for (int i = 0; i < rows * t.pitch - MORE_COLUMNS; i += LANES) {
      vector sum = 0.0f;
#pragma unroll
      for (int kh = 0; kh < KH; ++kh) {
#pragma unroll
        for (int kw = 0; kw < KW; ++kw) {
          sum += *(__local const vector*)(copy + i + position_in_copy(t, kh, kw));
        }
      }
      *(__local vector*)(sums + i) = sum;
    }

    const int n = at.plane / C;
    const int ch = at.plane % C;
    const int end = min(t.columns, OW - at.ow0);
    for (int c = 0; c < end; ++c) {
      counts[c] = counted((at.ow0 + c) * SW - PL, KW, DW, COUNT_PAD ? -PL : 0, W + (COUNT_PAD ? PR : 0));
    }
    for (int r = 0; r < rows; ++r) {
      const int down =
          counted((at.oh0 + r) * SH - PT, KH, DH, COUNT_PAD ? -PT : 0, H + (COUNT_PAD ? PB : 0));
      __global MEMORY_dst* out = dst + (at.plane * OH + at.oh0 + r) * OW + at.ow0;
      for (int c = 0; c < end; ++c) {
        const float mean = sums[r * t.pitch + c] / (float)(down * counts[c]);
        put_number(out + c, EPILOGUE(mean, n, ch, at.oh0 + r, at.ow0 + c));
      }
    }
  }
}
