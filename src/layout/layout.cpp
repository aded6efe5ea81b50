// SPDX-License-Identifier: Apache-2.0
#include "layout/layout.hpp"

#include <algorithm>
#include <array>

#include "base/numbers/checked.hpp"

namespace morton::layout {
namespace {

std::string coordinate_text(std::span<const std::int64_t> coordinates) {
  std::string text = "(";
  for (std::size_t d = 0; d < coordinates.size(); ++d) {
    text += (d > 0 ? ", " : "") + std::to_string(coordinates[d]);
  }
  return text + ")";
}

/// Adjacent loops over one dimension, which count it as a single loop does.
struct DigitRun {
  int dimension = 0;
  /// Elements of the dimension that one iteration spans.
  std::int64_t span = 1;
  /// 0 where the run holds the whole loop.
  std::int64_t extent = 0;
  Expression stride;
};

/// Product of the loops from `first` on. A dimension whose whole loop is among them contributes its
/// padded extent, since all of its tiles' loops are further inside; so no division is needed.
Expression product_from(const Layout& layout, std::size_t first,
                        std::span<const Expression> padded) {
  const auto& loops = layout.loops();
  std::vector<char> whole(static_cast<std::size_t>(layout.rank()), 0);
  for (std::size_t i = first; i < loops.size(); ++i) {
    if (loops[i].extent == 0) whole[loops[i].dimension] = 1;
  }
  Expression symbols(1);
  std::int64_t constant = 1;
  for (std::size_t i = first; i < loops.size(); ++i) {
    if (loops[i].extent == 0) {
      symbols = symbols * padded[loops[i].dimension];
    } else if (whole[loops[i].dimension] == 0) {
      constant = checked_mul(constant, loops[i].extent, "layout: stride");
    }
  }
  return symbols * Expression(constant);
}

std::vector<DigitRun> runs_of(const Layout& layout, std::span<const Expression> padded,
                              const Expression* pitch) {
  if (padded.size() != static_cast<std::size_t>(layout.rank())) {
    throw InternalError("layout of " + std::to_string(layout.rank()) + " dimensions: got " +
                        std::to_string(padded.size()) + " padded extents");
  }
  const auto& loops = layout.loops();
  std::vector<std::int64_t> below(static_cast<std::size_t>(layout.rank()), 1);
  std::vector<DigitRun> runs;
  for (std::size_t i = loops.size(); i-- > 0;) {
    const Loop& loop = loops[i];
    const bool pitched = i == 0 && pitch != nullptr;
    if (!runs.empty() && runs.back().dimension == loop.dimension && !pitched) {
      runs.back().extent *= loop.extent;
    } else {
      runs.push_back({loop.dimension, below[loop.dimension], loop.extent,
                      pitched ? *pitch : product_from(layout, i + 1, padded)});
    }
    if (loop.extent > 0) below[loop.dimension] *= loop.extent;
  }
  return {runs.rbegin(), runs.rend()};
}

}  // namespace

std::optional<std::string> complaint_of(int rank, const std::vector<Loop>& loops) {
  std::array<bool, kMaxRank> has_whole{};
  std::array<std::int64_t, kMaxRank> tiles;
  tiles.fill(1);
  for (const auto& [dimension, extent] : loops) {
    const std::string named = "dimension " + std::to_string(dimension);
    if (dimension < 0 || dimension >= rank) return named + " of " + std::to_string(rank);
    if (extent < 0) return named + ": expected an extent >= 1, got " + std::to_string(extent);
    if (extent == 0) {
      if (has_whole[dimension]) return named + " is named twice";
      has_whole[dimension] = true;
      continue;
    }
    if (!has_whole[dimension]) {
      return named + ": a tile's loop stands outside of the loop over the whole dimension";
    }
    std::int64_t& tile = tiles[dimension];
    const std::int64_t inside = tile;
    if (__builtin_mul_overflow(inside, extent, &tile)) {
      return "tile: " + std::to_string(inside) + " * " + std::to_string(extent) +
             " does not fit 64 bits";
    }
  }
  for (int d = 0; d < rank; ++d) {
    if (!has_whole[d]) return "dimension " + std::to_string(d) + " is missing";
  }
  return std::nullopt;
}

Layout::Layout(int rank, std::vector<Loop> loops) : rank_(rank), loops_(std::move(loops)) {
  if (rank < 0 || static_cast<std::size_t>(rank) > kMaxRank) {
    throw ModelError("layout: " + std::to_string(rank) + " dimensions; at most " +
                     std::to_string(kMaxRank) + " are supported");
  }
  if (const auto complaint = complaint_of(rank_, loops_)) {
    throw ModelError("layout: " + *complaint);
  }
  std::erase_if(loops_, [](const Loop& loop) { return loop.extent == 1; });
}

Layout Layout::row_major(int rank) {
  std::vector<Loop> loops;
  loops.reserve(static_cast<std::size_t>(std::max(rank, 0)));
  for (int d = 0; d < rank; ++d) loops.push_back({d, 0});
  return Layout(rank, std::move(loops));
}

std::int64_t Layout::tile(int dimension) const {
  std::int64_t tile = 1;
  for (const Loop& loop : loops_) {
    if (loop.dimension == dimension && loop.extent > 0) tile *= loop.extent;
  }
  return tile;
}

BoundLayout::BoundLayout(const Layout& layout, Shape padded, std::int64_t pitch)
    : layout_(layout), padded_(std::move(padded)) {
  if (padded_.size() != static_cast<std::size_t>(layout_.rank())) {
    throw ModelError("layout of " + std::to_string(layout_.rank()) + " dimensions: got extents " +
                     to_string(padded_));
  }
  for (int d = 0; d < layout_.rank(); ++d) {
    const std::int64_t tile = layout_.tile(d);
    if (padded_[d] < 0 || padded_[d] % tile != 0) {
      throw ModelError("layout: dimension " + std::to_string(d) + ": expected a multiple of " +
                       std::to_string(tile) + ", got " + std::to_string(padded_[d]));
    }
  }
  const auto& loops = layout_.loops();
  iterations_.resize(loops.size());
  strides_.resize(loops.size());
  size_ = 1;
  std::int64_t inside = 1;
  for (std::size_t i = loops.size(); i-- > 0;) {
    const Loop& loop = loops[i];
    iterations_[i] =
        loop.extent > 0 ? loop.extent : padded_[loop.dimension] / layout_.tile(loop.dimension);
    strides_[i] = inside = size_;
    size_ = checked_mul(size_, iterations_[i], "layout: elements");
  }
  if (pitch == 0) return;
  if (loops.empty() || pitch < inside) {
    throw ModelError("layout: expected a pitch of at least " + std::to_string(inside) +
                     " elements, got " + std::to_string(pitch) +
                     (loops.empty() ? " for a scalar" : ""));
  }
  strides_[0] = pitch;
  if (size_ > 0) {
    const std::int64_t last = checked_mul(iterations_[0] - 1, pitch, "layout: pitched elements");
    size_ = checked_add(last, inside, "layout: pitched elements");
  }
}

std::int64_t BoundLayout::offset(std::span<const std::int64_t> coordinates) const {
  bool in_range = coordinates.size() == padded_.size();
  for (std::size_t d = 0; in_range && d < padded_.size(); ++d) {
    in_range = coordinates[d] >= 0 && coordinates[d] < padded_[d];
  }
  if (!in_range) {
    throw InternalError("layout: coordinates " + coordinate_text(coordinates) + " outside of " +
                        to_string(padded_));
  }
  const auto& loops = layout_.loops();
  Shape left(coordinates.begin(), coordinates.end());
  std::int64_t offset = 0;
  for (std::size_t i = loops.size(); i-- > 0;) {
    std::int64_t& rest = left[loops[i].dimension];
    offset += rest % iterations_[i] * strides_[i];
    rest /= iterations_[i];
  }
  return offset;
}

Shape BoundLayout::coordinates(std::int64_t offset) const {
  const auto& loops = layout_.loops();
  Shape result(padded_.size(), 0);
  std::int64_t rest = offset;
  // Outermost first, so that each dimension's coordinate is built from its most significant digit.
  for (std::size_t i = 0; rest >= 0 && offset < size_ && i < loops.size(); ++i) {
    // cppcheck-suppress zerodivcond ; a stride of 0 has a size_ of 0: no offset is below
    const std::int64_t index = rest / strides_[i];
    rest %= strides_[i];
    if (i == 0 && loops.size() > 1 && rest >= strides_[1] * iterations_[1]) break;
    result[loops[i].dimension] = result[loops[i].dimension] * iterations_[i] + index;
  }
  const bool scalar = loops.empty() && offset != 0;
  if (rest != 0 || offset >= size_ || scalar) {
    throw InternalError("layout: offset " + std::to_string(offset) + " of " +
                        std::to_string(size_) + " elements is no element's");
  }
  return result;
}

Expression offset_expression(const Layout& layout, std::span<const Expression> coordinates,
                             std::span<const Expression> padded, const Expression* pitch) {
  if (coordinates.size() != static_cast<std::size_t>(layout.rank())) {
    throw InternalError("layout of " + std::to_string(layout.rank()) + " dimensions: got " +
                        std::to_string(coordinates.size()) + " coordinates");
  }
  std::optional<Expression> offset;
  for (const DigitRun& run : runs_of(layout, padded, pitch)) {
    Expression index = coordinates[run.dimension] / Expression(run.span);
    if (run.extent > 0) index = index % Expression(run.extent);
    const Expression term = index * run.stride;
    offset = offset ? *offset + term : term;
  }
  return offset.value_or(Expression(0));
}

std::vector<Expression> coordinate_expressions(const Layout& layout, const Expression& offset,
                                               std::span<const Expression> padded) {
  std::vector<Expression> result(static_cast<std::size_t>(layout.rank()), Expression(0));
  const std::vector<DigitRun> runs = runs_of(layout, padded, nullptr);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const DigitRun& run = runs[i];
    Expression index = offset / run.stride;
    if (i > 0) {
      index = index % (run.extent > 0 ? Expression(run.extent)
                                      : padded[run.dimension] / Expression(run.span));
    }
    result[run.dimension] = result[run.dimension] + index * Expression(run.span);
  }
  return result;
}

}  // namespace morton::layout
