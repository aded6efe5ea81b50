// SPDX-License-Identifier: Apache-2.0
//
// max_pool2d.planes: dst[n,c,oh,ow] = EPILOGUE(largest src[n, c, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL]
// of those (kh, kw) that fall inside the image), for CPUs
//
//   src  NCHW   ((n*C + c)*H + h)*W + w
//   dst  NCHW   ((n*C + c)*OH + oh)*OW + ow
//
// A work-group is one work-item, which takes tiles of planes one after another, each as one long row
// (shared/planes.clh has the drawing). Padding is -infinity.
//
// A NaN in the window stays, as ONNX's reference has it: fmax() would drop it.
//
// Tunables: LANES, floats of a vector; SCRATCH, elements of the copy; COLUMNS of a tile at most; GROUPS,
// work-items for each compute unit at most.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory.
__kernel ATTRIBUTES void max_planes(ARGUMENTS) {
  __local float copy[SCRATCH];
  __local float largest[SCRATCH];
  const plane_tiles t = tiles_of(OH, OW);
  fill_copy(copy, t, -INFINITY);

  const int tiles = N * C * t.down * t.across;
  const int last = share(tiles, get_global_id(0) + 1, get_global_size(0));
  for (int tile = share(tiles, get_global_id(0), get_global_size(0)); tile < last; ++tile) {
    const tile_place at = place_of(t, tile);
    copy_tile(copy, t, at, src, N * C * H * W, at.plane * (H * W), H, W, -INFINITY);

    const int rows = min(t.rows, OH - at.oh0);
    for (int i = 0; i < rows * t.pitch - MORE_COLUMNS; i += LANES) {
      vector most = -INFINITY;
#pragma unroll
      for (int kh = 0; kh < KH; ++kh) {
#pragma unroll
        for (int kw = 0; kw < KW; ++kw) {
          const vector value = *(__local const vector*)(copy + i + position_in_copy(t, kh, kw));
          most = value > most || value != value ? value : most;
        }
      }
      *(__local vector*)(largest + i) = most;
    }

    const int n = at.plane / C;
    const int ch = at.plane % C;
    for (int r = 0; r < rows; ++r) {
      __global MEMORY_dst* out = dst + (at.plane * OH + at.oh0 + r) * OW + at.ow0;
      for (int c = 0; c < min(t.columns, OW - at.ow0); ++c) {
        put_number(out + c, EPILOGUE(largest[r * t.pitch + c], n, ch, at.oh0 + r, at.ow0 + c));
      }
    }
  }
}
