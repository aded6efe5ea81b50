// SPDX-License-Identifier: Apache-2.0
//
// max_pool2d.planes: dst[n,c,oh,ow] = EPILOGUE(largest src[n, c, oh*SH + kh*DH - PT, ow*SW + kw*DW - PL]
// of those (kh, kw) that fall inside the image), for CPUs
//
//   src  NCHW   ((n*C + c)*H + h)*W + w
//   dst  NCHW   ((n*C + c)*OH + oh)*OW + ow
//
// A work-group is one work-item, which takes tiles of planes one after another. What is under a tile
// is copied, with padding p of -infinity, into local memory, where a tile's rows then follow each other
// `pitch` elements apart, and all of it is computed as one long row:
//
//        copy of src, SW = 1                    dst[p] = largest of copy[p + kh*pitch + kw]
//        p p p p p p p p
//        p a b c d e f p      KW - 1 of         [sixteen at a time .......][. . . . . . .
//        p g h i j k l p  <-  `pitch` results->  A B C D E F - - G H I J K L - - M N ...
//        p m n o p q r p      are of no use              rows of dst, two results wasted on each
//
// With strides the copy is dealt out to SH * SW smaller ones, of every SH-th row and SW-th column, in
// which neighbouring results read neighbours again: position (kh, kw) reads copy (kh*DH % SH, kw*DW % SW).
//
// A NaN in the window stays, as ONNX's reference has it: fmax() would drop it.
//
// Tunables: SCRATCH, elements of the copy; COLUMNS of a tile at most; GROUPS, work-items at most.
// Assumes: a work-group of one work-item, which needs no barrier between its use of local memory.
#define DOWN_PHASES (KH == 1 ? 1 : SH)
#define ACROSS_PHASES (KW == 1 ? 1 : SW)
#define MORE_ROWS ((KH - 1) * DH / SH)
#define MORE_COLUMNS ((KW - 1) * DW / SW)
// A vector may reach this far beyond what it is meant for.
#define SPARE 16

__kernel ATTRIBUTES void max_planes(ARGUMENTS) {
  // Sixteen floats that may start at any float, where OpenCL's float16 starts at 64 bytes only.
  typedef float sixteen __attribute__((ext_vector_type(16), aligned(4)));
  __local float copy[SCRATCH];
  __local float largest[SCRATCH];

  const int tiles_across = (OW + COLUMNS - 1) / COLUMNS;
  const int columns = (OW + tiles_across - 1) / tiles_across;
  const int pitch = columns + MORE_COLUMNS;
  const int most_rows =
      (SCRATCH / (DOWN_PHASES * ACROSS_PHASES) - 2 * SPARE) / pitch - MORE_ROWS;
  const int tiles_down = (OH + most_rows - 1) / most_rows;
  const int tile_rows = (OH + tiles_down - 1) / tiles_down;
  const int copied_rows = (tile_rows + MORE_ROWS) * DOWN_PHASES;
  const int phase = (tile_rows + MORE_ROWS) * pitch + 2 * SPARE;
  for (int i = 0; i < DOWN_PHASES * ACROSS_PHASES * phase; ++i) copy[i] = -INFINITY;

  const int tiles = N * C * tiles_down * tiles_across;
  const int items = get_global_size(0);
  const int last = (int)((long)tiles * (get_global_id(0) + 1) / items);
  for (int tile = (int)((long)tiles * get_global_id(0) / items); tile < last; ++tile) {
    const int ow0 = tile % tiles_across * columns;
    const int oh0 = tile / tiles_across % tiles_down * tile_rows;
    const int plane = tile / (tiles_across * tiles_down);
    const int ch = plane % C;
    const int n = plane / C;
    const int image = plane * (H * W);

    for (int r = 0; r < copied_rows; ++r) {
      const int h = oh0 * SH - PT + r / DOWN_PHASES * SH + r % DOWN_PHASES;
      const int is_row = h >= 0 && h < H;
      __local float* row = copy + (r % DOWN_PHASES * ACROSS_PHASES) * phase + r / DOWN_PHASES * pitch;
      // Column c of phase q is column w0 + q + c * SW of the image.
      const int w0 = ow0 * SW - PL;
      const int start = image + h * W + w0;
      int both = 0;
      int vectors = 0;
      if (is_row & (ACROSS_PHASES == SW) & (SW <= 2)) {
        // What all phases have is copied in vectors, as far as those end within src.
        both = clamp((SW - 1 - w0) / SW, 0, pitch);
        const int count = clamp((W - w0) / SW, both, pitch) - both;
        vectors = min((count + 15) / 16, max(N * C * H * W - start - both * SW, 0) / (16 * SW));
        for (int c = both; c < both + 16 * vectors; c += 16) {
          __global const float* from = src + start + c * SW;
          const sixteen one = *(__global const sixteen*)from;
          if (SW == 1) {
            *(__local sixteen*)(row + c) = one;
          } else {
            const sixteen two = *(__global const sixteen*)(from + 16);
            sixteen even;
            sixteen odd;
            even.lo = one.even;
            even.hi = two.even;
            odd.lo = one.odd;
            odd.hi = two.odd;
            *(__local sixteen*)(row + c) = even;
            *(__local sixteen*)(row + (ACROSS_PHASES - 1) * phase + c) = odd;
          }
        }
      }
#pragma unroll
      for (int q = 0; q < ACROSS_PHASES; ++q) {
        __local float* to = row + q * phase;
        const int begin = is_row ? clamp((SW - 1 - w0 - q) / SW, 0, pitch) : 0;
        const int end = is_row ? clamp((max(W - w0 - q, 0) + SW - 1) / SW, begin, pitch) : 0;
        const int copied = min(both + 16 * vectors, end);
        for (int c = 0; c < begin; ++c) to[c] = -INFINITY;
        for (int c = begin; c < min(both, end); ++c) to[c] = src[start + q + c * SW];
        for (int c = max(copied, begin); c < end; ++c) to[c] = src[start + q + c * SW];
        for (int c = end; c < pitch; ++c) to[c] = -INFINITY;
      }
    }

    const int rows = min(tile_rows, OH - oh0);
    for (int p = 0; p < rows * pitch - MORE_COLUMNS; p += 16) {
      sixteen most = -INFINITY;
#pragma unroll
      for (int kh = 0; kh < KH; ++kh) {
#pragma unroll
        for (int kw = 0; kw < KW; ++kw) {
          const int from = (kh * DH % SH * ACROSS_PHASES + kw * DW % SW) * phase;
          const sixteen value =
              *(__local const sixteen*)(copy + from + p + kh * DH / SH * pitch + kw * DW / SW);
          most = value > most || value != value ? value : most;
        }
      }
      *(__local sixteen*)(largest + p) = most;
    }

    const int end = min(columns, OW - ow0);
    for (int r = 0; r < rows; ++r) {
      __global float* out = dst + (plane * OH + oh0 + r) * OW + ow0;
      for (int c = 0; c < end; ++c) out[c] = EPILOGUE(largest[r * pitch + c], n, ch, oh0 + r, ow0 + c);
    }
  }
}
#undef DOWN_PHASES
#undef ACROSS_PHASES
#undef MORE_ROWS
#undef MORE_COLUMNS
#undef SPARE
