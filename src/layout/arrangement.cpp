// SPDX-License-Identifier: Apache-2.0
#include "layout/arrangement.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "base/numbers/checked.hpp"

namespace morton::layout {
namespace {

constexpr std::array<std::string_view, 3> kContentsNames{"undefined", "finite", "zero"};

/// Throws ModelError unless the groups hold every tensor dimension once.
void check_grouping(const Shape& shape, const Grouping& grouping, int rank) {
  std::uint64_t seen = 0;
  std::size_t members = 0;
  bool once = shape.size() <= kMaxRank;
  for (const auto& group : grouping) {
    for (const int t : group) {
      ++members;
      const bool known = t >= 0 && static_cast<std::size_t>(t) < shape.size();
      once = once && known && (seen >> t & 1) == 0;
      if (once) seen |= std::uint64_t{1} << t;
    }
  }
  if (!once || members != shape.size() || grouping.size() != static_cast<std::size_t>(rank)) {
    throw ModelError("arrangement: expected " + std::to_string(rank) +
                     " groups that hold each dimension of " + to_string(shape) + " once, got " +
                     std::to_string(grouping.size()) + " groups of " + std::to_string(members) +
                     " dimensions");
  }
}

/// The extent of an operand dimension: the product of its group's.
std::int64_t joined_extent(const Arrangement& arrangement, std::size_t dimension) {
  std::int64_t extent = 1;
  for (const int t : arrangement.grouping[dimension]) {
    if (arrangement.tensor_shape[t] < 0) {
      throw ModelError("arrangement: negative extent in " + to_string(arrangement.tensor_shape));
    }
    extent = checked_mul(extent, arrangement.tensor_shape[t], "arrangement: joined extent");
  }
  return extent;
}

std::int64_t least_common_multiple(std::int64_t a, std::int64_t b) {
  return checked_mul(a / std::gcd(a, b), b, "arrangement: alignment");
}

/// Elements where no gaps lie between them; none for a pitch, or an arrangement that contradicts
/// itself.
std::optional<std::int64_t> dense_elements(const Arrangement& arrangement) {
  const Layout& layout = arrangement.layout;
  const Shape& padded = arrangement.padded;
  if (arrangement.pitch != 0 || padded.size() != static_cast<std::size_t>(layout.rank())) {
    return std::nullopt;
  }
  std::int64_t elements = 1;
  for (int d = 0; d < layout.rank(); ++d) {
    if (padded[d] < 0 || padded[d] % layout.tile(d) != 0) return std::nullopt;
    if (__builtin_mul_overflow(elements, padded[d], &elements)) return std::nullopt;
  }
  return elements;
}

std::vector<std::string> default_names(std::size_t rank) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < rank; ++d) names.emplace_back(1, static_cast<char>('A' + d));
  return names;
}

}  // namespace

std::string_view name_of(PaddingContents padding) {
  return kContentsNames.at(static_cast<std::size_t>(padding));
}

PaddingContents parse_padding_contents(std::string_view text, std::string_view where) {
  for (std::size_t i = 0; i < kContentsNames.size(); ++i) {
    if (kContentsNames[i] == text) return static_cast<PaddingContents>(i);
  }
  throw ModelError(std::string(where) + ": expected padding of undefined, finite or zero, got '" +
                   std::string(text) + "'");
}

Arrangement row_major_arrangement(DType dtype, const Shape& shape) {
  Arrangement arrangement;
  arrangement.dtype = dtype;
  arrangement.tensor_shape = shape;
  arrangement.grouping.reserve(shape.size());
  for (int d = 0; d < static_cast<int>(shape.size()); ++d) arrangement.grouping.push_back({d});
  arrangement.layout = Layout::row_major(static_cast<int>(shape.size()));
  arrangement.padded = shape;
  return arrangement;
}

Arrangement make_arrangement(DType dtype, const Shape& shape, Grouping grouping,
                             const Layout& layout, const Shape& align, PaddingContents padding) {
  check_grouping(shape, grouping, layout.rank());
  if (align.size() != grouping.size()) {
    throw ModelError("arrangement: " + std::to_string(align.size()) + " alignments for " +
                     std::to_string(grouping.size()) + " dimensions");
  }
  Arrangement arrangement;
  arrangement.dtype = dtype;
  arrangement.tensor_shape = shape;
  arrangement.grouping = std::move(grouping);
  arrangement.layout = layout;
  arrangement.padding = padding;
  const Shape extents = operand_extents(arrangement);
  for (int d = 0; d < layout.rank(); ++d) {
    if (align[d] < 1) {
      throw ModelError("arrangement: expected an alignment >= 1 of dimension " + std::to_string(d) +
                       ", got " + std::to_string(align[d]));
    }
    arrangement.padded.push_back(
        round_up(extents[d], least_common_multiple(align[d], layout.tile(d))));
  }
  static_cast<void>(bytes_of(arrangement));  // throws for a size that does not fit 64 bits
  return arrangement;
}

std::optional<Arrangement> likened(const Arrangement& other, const Shape& shape) {
  if (other.tensor_shape.size() != shape.size()) return std::nullopt;
  return make_arrangement(other.dtype, shape, other.grouping, other.layout,
                          Shape(other.grouping.size(), 1), other.padding);
}

void validate(const Arrangement& arrangement) {
  check_grouping(arrangement.tensor_shape, arrangement.grouping, arrangement.layout.rank());
  for (std::size_t d = 0; d < arrangement.grouping.size(); ++d) {
    const std::int64_t extent = joined_extent(arrangement, d);
    if (d < arrangement.padded.size() && arrangement.padded[d] >= extent) continue;
    throw ModelError("arrangement: dimension " + std::to_string(d) + " of " +
                     to_string(arrangement.tensor_shape) +
                     ": expected a padded extent of at least " + std::to_string(extent) + ", got " +
                     to_string(arrangement.padded));
  }
}

Shape operand_extents(const Arrangement& arrangement) {
  check_grouping(arrangement.tensor_shape, arrangement.grouping, arrangement.layout.rank());
  Shape extents(arrangement.grouping.size());
  for (std::size_t d = 0; d < extents.size(); ++d) extents[d] = joined_extent(arrangement, d);
  return extents;
}

std::int64_t elements_of(const Arrangement& arrangement) {
  if (const auto dense = dense_elements(arrangement)) return *dense;
  return BoundLayout(arrangement.layout, arrangement.padded, arrangement.pitch).size();
}

std::int64_t bytes_of(const Arrangement& arrangement) {
  return checked_mul(elements_of(arrangement), size_of(arrangement.dtype), "arrangement: bytes");
}

std::int64_t offset_of(const Arrangement& arrangement,
                       std::span<const std::int64_t> tensor_coordinates) {
  const Shape& shape = arrangement.tensor_shape;
  check_grouping(shape, arrangement.grouping, arrangement.layout.rank());
  bool in_range = tensor_coordinates.size() == shape.size();
  for (std::size_t t = 0; in_range && t < shape.size(); ++t) {
    in_range = tensor_coordinates[t] >= 0 && tensor_coordinates[t] < shape[t];
  }
  if (!in_range) throw InternalError("arrangement: coordinates outside of " + to_string(shape));
  Shape joined;
  for (const auto& group : arrangement.grouping) {
    std::int64_t coordinate = 0;
    for (const int t : group) coordinate = coordinate * shape[t] + tensor_coordinates[t];
    joined.push_back(coordinate);
  }
  return BoundLayout(arrangement.layout, arrangement.padded, arrangement.pitch).offset(joined);
}

std::string layout_text(const Arrangement& arrangement) {
  return arrangement.layout.print(default_names(arrangement.grouping.size()));
}

std::string print(const Arrangement& arrangement, std::span<const std::string> dimensions) {
  std::vector<std::string> names(dimensions.begin(), dimensions.end());
  if (names.empty()) names = default_names(arrangement.grouping.size());
  const Shape extents = operand_extents(arrangement);
  std::string text(name_of(arrangement.dtype));
  text += " " + arrangement.layout.print(names) + " [";
  for (std::size_t d = 0; d < extents.size(); ++d) {
    text += (d > 0 ? " " : "") + names[d] + "=" + std::to_string(extents[d]) + "->" +
            std::to_string(arrangement.padded[d]);
  }
  text += "]";
  if (arrangement.pitch != 0) text += " pitch " + std::to_string(arrangement.pitch);
  if (arrangement.memory == MemoryKind::image) {
    text += " image y:" + std::to_string(arrangement.image_rows) +
            " x:" + std::to_string(arrangement.image_texels);
  }
  return text + " padding " + std::string(name_of(arrangement.padding));
}

}  // namespace morton::layout
