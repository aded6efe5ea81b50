// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/algebra/view.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "layout/layout.hpp"
#include "morton/tensor.hpp"

namespace morton::layout {

/// What the padded region of an arrangement holds. The order is of strength: each holds all that
/// the ones before it promise.
enum class PaddingContents : std::uint8_t { undefined, finite, zero };

[[nodiscard]] MORTON_FOR_TOOLS std::string_view name_of(PaddingContents padding);
/// Throws ModelError that names `where`.
[[nodiscard]] PaddingContents parse_padding_contents(std::string_view text, std::string_view where);

enum class MemoryKind : std::uint8_t { buffer, image };

/// How one tensor lies in memory: its dimensions joined into operand dimensions, the layout of
/// those, their padded extents, and what the padding holds. The concrete form of a catalogue
/// entry's format.
struct Arrangement {
  DType dtype = DType::f32;
  /// Extents of the tensor's own dimensions.
  Shape tensor_shape;
  /// Operand dimensions as groups of tensor dimensions; {{0},{1},...} for a tensor in its own
  /// terms.
  Grouping grouping;
  Layout layout = Layout::row_major(0);
  /// Extent of each operand dimension after alignment; at least the product of its group.
  Shape padded;
  /// Elements between iterations of the outermost loop; 0 for dense.
  std::int64_t pitch = 0;
  PaddingContents padding = PaddingContents::zero;
  MemoryKind memory = MemoryKind::buffer;
  /// For images: the first `image_rows` loops count rows (y), the next `image_texels` loops texels
  /// in a row (x), the rest the four channels of a texel.
  int image_rows = 0;
  int image_texels = 0;
};

/// Dense row-major, no padding: how tensors come from and go to the host.
[[nodiscard]] Arrangement row_major_arrangement(DType dtype, const Shape& shape);

/// An arrangement of a tensor of `shape` for an operand seen through `grouping`: each operand
/// dimension is padded to a multiple of `align[d]` and of the layout's tile.
[[nodiscard]] Arrangement make_arrangement(DType dtype, const Shape& shape, Grouping grouping,
                                           const Layout& layout, const Shape& align,
                                           PaddingContents padding);

/// Of a tensor of this shape, in the same order of its dimensions as `other`; none for other ranks.
[[nodiscard]] std::optional<Arrangement> likened(const Arrangement& other, const Shape& shape);

/// Throws ModelError unless the groups hold each tensor dimension once and the padded extents hold
/// the operand's.
void validate(const Arrangement& arrangement);

/// Logical extent of each operand dimension.
[[nodiscard]] Shape operand_extents(const Arrangement& arrangement);
/// Elements, padding and pitch included; checked.
[[nodiscard]] std::int64_t elements_of(const Arrangement& arrangement);
[[nodiscard]] MORTON_FOR_TOOLS std::int64_t bytes_of(const Arrangement& arrangement);
/// Offset in elements of the tensor element at `tensor_coordinates`.
[[nodiscard]] std::int64_t offset_of(const Arrangement& arrangement,
                                     std::span<const std::int64_t> tensor_coordinates);

/// Size of an image in texels of four elements.
struct ImageExtents {
  std::int64_t rows = 0, texels = 0;
};
/// That of an arrangement whose memory is an image. Throws ModelError where its loops do not leave
/// four elements for a texel.
[[nodiscard]] ImageExtents image_extents(const Arrangement& arrangement);

/// True when every element of the tensor has the same offset in both, in memory of the same kind,
/// element type and size (padding contents are not compared). R over (M, N*OH*OW) and a tensor's
/// own OIHW-like order may be one and the same.
[[nodiscard]] bool same_memory(const Arrangement& a, const Arrangement& b);
/// True when a value stored as `stored` can be used where `demanded` is asked for: the same memory,
/// and where `demanded` has padding, contents that promise as much.
[[nodiscard]] bool satisfies(const Arrangement& stored, const Arrangement& demanded);

/// Writes a dense row-major tensor into `destination` (bytes_of(arrangement) bytes), the whole
/// padding and the pitch's gaps as zeros. Converts the element type when it differs.
void pack(const Tensor& source, const Arrangement& arrangement, std::span<std::byte> destination);
/// The same through a view: the operand's element at each coordinate is the tensor's at the view's;
/// `extents` gives the values of the view's names, and `arrangement.tensor_shape` is the operand's
/// own shape. Throws ModelError where a view that is not bounded leaves the tensor.
void pack_through(const Tensor& source, const View& view, const Environment& extents,
                  const Arrangement& arrangement, std::span<std::byte> destination);
/// Reads the tensor back.
[[nodiscard]] Tensor unpack(std::span<const std::byte> source, const Arrangement& arrangement);

/// "f32 C_4_2_C [M=120->120 N=1->32] padding finite"-like text; names the operand dimensions A, B,
/// ... unless given.
[[nodiscard]] MORTON_FOR_TOOLS std::string print(const Arrangement& arrangement,
                                                 std::span<const std::string> dimensions = {});

/// The arrangement's layout, its dimensions named A, B, ...: "R_*_64_R".
[[nodiscard]] std::string layout_text(const Arrangement& arrangement);

}  // namespace morton::layout
