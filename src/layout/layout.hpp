// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/algebra/expression.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "base/shape.hpp"

namespace morton::layout {

/// One loop of a layout: it steps through `dimension` of the operand. `extent` 0 means "whole": as
/// many iterations as the padded dimension has left after the loops inside it.
struct Loop {
  int dimension = 0;
  std::int64_t extent = 0;
  friend bool operator==(const Loop&, const Loop&) = default;
};

/// An order of elements in memory, as nested loops, outermost first (R17, section 8.2; gemmlowp's
/// cells and sides are loops too). The innermost loop's elements are adjacent.
///
/// Two notations parse to it:
/// - for two dimensions the grammar of R17: `R`, `C`, `R_2_4_R` (tiles of 2 rows x 4 columns stored
///   row-major, the tiles in row-major order), `C_4_2_C`, any depth (`R_64_32_C_8_4_R`), with `*`
///   for a whole extent: `R_*_16_R` is panels of 16 columns, each row-major;
/// - for any other number, letters: an upper-case letter is a whole loop over the dimension whose
/// name
///   ends in it ("KH" is H), a number and a lower-case letter an inner loop of that extent: `NCHW`,
///   `NHWC`, `NCHW4c`, `OIHW4i4o`.
class MORTON_FOR_TOOLS Layout {
 public:
  /// Throws ModelError that quotes `text` and says what is wrong (an unknown letter, a dimension
  /// missing or named twice, a tile that its outer tile's size is no multiple of, an extent < 1).
  [[nodiscard]] static Layout parse(std::string_view text, std::span<const std::string> dimensions);
  /// All dimensions in order, without tiles.
  [[nodiscard]] static Layout row_major(int rank);
  /// Each dimension needs one whole loop, outside of its fixed ones (ModelError). Fixed loops of
  /// one iteration are dropped, so that equal orders written with and without them compare equal.
  explicit Layout(int rank, std::vector<Loop> loops);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] const std::vector<Loop>& loops() const { return loops_; }
  /// The text that `parse` reads back for these dimensions. A matrix of panels prints as such:
  /// `C_1_16_C` and `R_*_16_R` are one order. Throws ModelError for names that end in no letter or
  /// in the same one.
  [[nodiscard]] std::string print(std::span<const std::string> dimensions) const;
  /// The product of the fixed loops over `dimension`: what its padded extent must be a multiple of.
  [[nodiscard]] std::int64_t tile(int dimension) const;

  friend bool operator==(const Layout&, const Layout&) = default;

 private:
  int rank_;
  std::vector<Loop> loops_;
};

/// What is wrong with loops of so many dimensions: each needs one whole loop, outside of its fixed
/// ones.
[[nodiscard]] std::optional<std::string> complaint_of(int rank, const std::vector<Loop>& loops);

/// A layout with sizes. `pitch` is the distance, in elements, between iterations of the outermost
/// loop (a leading dimension, an image row pitch); 0 means dense.
class MORTON_FOR_TOOLS BoundLayout {
 public:
  /// `padded` holds each dimension's extent, a multiple of its tile; throws ModelError otherwise,
  /// and for a pitch below the dense one.
  BoundLayout(const Layout& layout, Shape padded, std::int64_t pitch = 0);

  /// Offset in elements of the element at `coordinates` (one for each dimension, in range).
  [[nodiscard]] std::int64_t offset(std::span<const std::int64_t> coordinates) const;
  /// The inverse; `offset` must not lie in a pitch's gap.
  [[nodiscard]] Shape coordinates(std::int64_t offset) const;
  /// Elements from the first to just past the last, gaps of the pitch included.
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] const Shape& padded() const { return padded_; }
  /// Iterations and stride in elements of each loop.
  [[nodiscard]] const Shape& iterations() const { return iterations_; }
  [[nodiscard]] const Shape& strides() const { return strides_; }

 private:
  Layout layout_;
  Shape padded_;
  Shape iterations_;
  Shape strides_;
  std::int64_t size_ = 0;
};

/// The offset as an expression of the coordinates and the padded extents (a dense layout when
/// `pitch` is null; else `*pitch` is the outermost loop's stride).
[[nodiscard]] Expression offset_expression(const Layout& layout,
                                           std::span<const Expression> coordinates,
                                           std::span<const Expression> padded,
                                           const Expression* pitch = nullptr);

/// The coordinates of the element at `offset`, for a dense layout.
[[nodiscard]] std::vector<Expression> coordinate_expressions(const Layout& layout,
                                                             const Expression& offset,
                                                             std::span<const Expression> padded);

}  // namespace morton::layout
