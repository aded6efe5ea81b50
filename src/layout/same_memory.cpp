// SPDX-License-Identifier: Apache-2.0
//
// Whether two arrangements of a tensor are the same bytes, decided from the loops alone.
//
// An offset is a sum of one function for each operand dimension, and each of those a sum of digits
// of the coordinate times strides. Every such function has one shortest list of digits (a digit
// that continues the one below is joined to it, one that stays 0 is dropped), and splits into
// functions of the tensor's own dimensions exactly where a digit starts, or can be cut, at their
// boundary.
#include <algorithm>
#include <array>

#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "layout/arrangement.hpp"

namespace morton::layout {
namespace {

/// One digit of a coordinate: coordinate / span (remainder by the next digit's span) times stride.
struct Digit {
  std::int64_t span = 1;
  std::int64_t stride = 0;
  friend bool operator==(const Digit&, const Digit&) = default;
};

/// Tensor dimensions that only their joined coordinate places, and how it does.
struct Unit {
  std::vector<int> dimensions;
  std::vector<Digit> digits;
  friend bool operator==(const Unit&, const Unit&) = default;
};

/// The shortest list for coordinates below `extent`.
std::vector<Digit> shortest(const std::vector<Digit>& digits, std::int64_t extent) {
  std::vector<Digit> result;
  for (const Digit& digit : digits) {
    if (digit.span >= extent) break;
    const bool continues =
        !result.empty() &&
        digit.stride / (digit.span / result.back().span) == result.back().stride &&
        digit.stride % (digit.span / result.back().span) == 0;
    if (!continues) result.push_back(digit);
  }
  return result;
}

/// Digits of an operand dimension, the innermost first.
std::vector<Digit> digits_of(const Layout& layout, const BoundLayout& bound, int dimension) {
  std::vector<Digit> digits;
  std::int64_t span = 1;
  for (std::size_t i = layout.loops().size(); i-- > 0;) {
    if (layout.loops()[i].dimension != dimension) continue;
    digits.push_back({span, bound.strides()[i]});
    span *= bound.iterations()[i];
  }
  return digits;
}

/// True when the function is the sum of one of coordinate % boundary and one of coordinate /
/// boundary.
bool splits_at(const std::vector<Digit>& digits, std::int64_t boundary) {
  const auto above = std::find_if(digits.begin(), digits.end(),
                                  [&](const Digit& digit) { return digit.span > boundary; });
  if (above != digits.end() && above->span % boundary != 0) return false;
  return above == digits.begin() || boundary % std::prev(above)->span == 0;
}

/// The digits as a function of coordinate / boundary, where they split at it.
std::vector<Digit> digits_from(const std::vector<Digit>& digits, std::int64_t boundary) {
  std::vector<Digit> result;
  for (const Digit& digit : digits) {
    if (digit.span <= boundary) {
      result.assign(1, {1, digit.stride * (boundary / digit.span)});
    } else {
      result.push_back({digit.span / boundary, digit.stride});
    }
  }
  return result;
}

/// Appends the units of one group. Dimensions of one element do not matter.
void append_units(const JoinedDimensions& group, const Shape& shape, std::vector<Digit> digits,
                  std::vector<Unit>& units) {
  Unit unit;
  std::int64_t extent = 1;
  for (const int t : group) extent *= shape[t];
  digits = shortest(digits, extent);
  std::int64_t below = 1;
  for (std::size_t i = group.size(); i-- > 0;) {
    if (shape[group[i]] == 1) continue;
    unit.dimensions.insert(unit.dimensions.begin(), group[i]);
    below *= shape[group[i]];
    if (below != extent && !splits_at(digits, below)) continue;
    unit.digits = shortest(digits, below);
    units.push_back(std::move(unit));
    unit = Unit();
    digits = digits_from(digits, below);
    extent /= below;
    below = 1;
  }
}

std::vector<Unit> units_of(const Arrangement& arrangement, const BoundLayout& bound) {
  std::vector<Unit> units;
  for (std::size_t d = 0; d < arrangement.grouping.size(); ++d) {
    append_units(arrangement.grouping[d], arrangement.tensor_shape,
                 digits_of(arrangement.layout, bound, static_cast<int>(d)), units);
  }
  std::sort(units.begin(), units.end(),
            [](const Unit& a, const Unit& b) { return a.dimensions < b.dimensions; });
  return units;
}

/// True for arrangements of tensors of one shape that are told in the same words.
bool is_written_alike(const Arrangement& a, const Arrangement& b) {
  return a.padded == b.padded && a.pitch == b.pitch && a.layout == b.layout &&
         a.grouping == b.grouping && a.image_rows == b.image_rows &&
         a.image_texels == b.image_texels;
}

/// Offset of the element whose coordinate in operand dimension `dimension` is `at`, and 0 in all
/// others.
std::int64_t offset_along(const Arrangement& arrangement, int dimension, std::int64_t at) {
  const auto& loops = arrangement.layout.loops();
  std::int64_t offset = 0;
  std::int64_t stride = 1;
  for (std::size_t i = loops.size(); i-- > 0;) {
    const auto [own, extent] = loops[i];
    const std::int64_t iterations =
        extent != 0 ? extent : arrangement.padded[own] / arrangement.layout.tile(own);
    if (i == 0 && arrangement.pitch != 0) stride = arrangement.pitch;
    if (own == dimension) {
      offset += at % iterations * stride;
      at /= iterations;
    }
    stride *= iterations;
  }
  return offset;
}

/// True where the last element along some dimension of the tensor lies elsewhere: most arrangements
/// that are not the same differ there, and it is told soon.
bool differs_at_an_end(const Arrangement& a, const Arrangement& b) {
  const Shape& shape = a.tensor_shape;
  std::array<std::int64_t, kMaxRank> ends{};
  for (std::size_t d = 0; d < a.grouping.size(); ++d) {
    std::int64_t below = 1;
    for (std::size_t i = a.grouping[d].size(); i-- > 0;) {
      const int t = a.grouping[d][i];
      ends[t] = offset_along(a, static_cast<int>(d), (shape[t] - 1) * below);
      below *= shape[t];
    }
  }
  for (std::size_t d = 0; d < b.grouping.size(); ++d) {
    std::int64_t below = 1;
    for (std::size_t i = b.grouping[d].size(); i-- > 0;) {
      const int t = b.grouping[d][i];
      if (ends[t] != offset_along(b, static_cast<int>(d), (shape[t] - 1) * below)) return true;
      below *= shape[t];
    }
  }
  return false;
}

std::int64_t padded_elements(const Arrangement& arrangement) {
  return BoundLayout(arrangement.layout, arrangement.padded).size();
}

}  // namespace

ImageExtents image_extents(const Arrangement& arrangement) {
  const BoundLayout bound(arrangement.layout, arrangement.padded, arrangement.pitch);
  const Shape& iterations = bound.iterations();
  const auto count = [&](std::size_t first, std::size_t last) {
    std::int64_t product = 1;
    for (std::size_t i = first; i < last && i < iterations.size(); ++i) {
      product = checked_mul(product, iterations[i], "arrangement: image");
    }
    return product;
  };
  constexpr std::int64_t kChannels = 4;
  const auto rows = static_cast<std::size_t>(arrangement.image_rows);
  const std::size_t row_end = rows + static_cast<std::size_t>(arrangement.image_texels);
  if (count(row_end, iterations.size()) != kChannels) {
    throw ModelError("arrangement: " + print(arrangement) + " leaves " +
                     std::to_string(count(row_end, iterations.size())) +
                     " elements for a texel, which has 4");
  }
  return {count(0, rows), count(rows, row_end)};
}

bool same_memory(const Arrangement& a, const Arrangement& b) {
  if (a.dtype != b.dtype || a.memory != b.memory || a.tensor_shape != b.tensor_shape) return false;
  validate(a);
  validate(b);
  if (is_written_alike(a, b)) return true;
  if (elements_of(a) != elements_of(b)) return false;
  if (a.memory == MemoryKind::image) {
    const ImageExtents one = image_extents(a);
    const ImageExtents other = image_extents(b);
    if (one.rows != other.rows || one.texels != other.texels) return false;
  }
  const bool empty =
      std::find(a.tensor_shape.begin(), a.tensor_shape.end(), 0) != a.tensor_shape.end();
  if (empty) return true;
  if (differs_at_an_end(a, b)) return false;
  const BoundLayout bound_a(a.layout, a.padded, a.pitch);
  const BoundLayout bound_b(b.layout, b.padded, b.pitch);
  return units_of(a, bound_a) == units_of(b, bound_b);
}

bool satisfies(const Arrangement& stored, const Arrangement& demanded) {
  if (!same_memory(stored, demanded)) return false;
  if (demanded.padding == PaddingContents::undefined ||
      demanded.padded == operand_extents(demanded))
    return true;
  // Between the elements of a pitched value lie gaps that padding contents do not cover.
  const bool gaps = elements_of(stored) != padded_elements(stored);
  const bool same_padding = stored.padded == demanded.padded && stored.layout == demanded.layout &&
                            stored.grouping == demanded.grouping;
  return stored.padding >= demanded.padding && (!gaps || same_padding);
}

}  // namespace morton::layout
