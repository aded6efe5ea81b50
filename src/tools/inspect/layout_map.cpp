// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include "base/error.hpp"
#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "layout/layout.hpp"
#include "morton/tools/layout.hpp"
#include "tools/inspect/layout_argument.hpp"

namespace morton {
using namespace tools;
namespace {

constexpr std::int64_t kMostMapped = std::int64_t{1} << 20;

/// Those of a layout in letters, in the order of the text.
std::vector<std::string> letters_of(const std::string& layout) {
  std::vector<std::string> letters;
  for (const char c : layout) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0) letters.emplace_back(1, c);
  }
  return letters;
}

bool is_of_matrix(const std::string& layout) {
  return layout.find_first_not_of("RC_*0123456789") == std::string::npos;
}

}  // namespace

LayoutMap layout_map(const std::string& layout, const Shape& extents) {
  LayoutMap map;
  map.dimensions = is_of_matrix(layout) ? std::vector<std::string>{"M", "N"} : letters_of(layout);
  const layout::Layout order = layout_of_argument(layout, map.dimensions);
  if (extents.size() != map.dimensions.size()) {
    throw UsageError("layout '" + layout + "': expected " + std::to_string(map.dimensions.size()) +
                     " extents, got " + std::to_string(extents.size()));
  }
  map.layout = order.print(map.dimensions);
  map.extents = extents;
  std::int64_t count = 1;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const std::int64_t tile = order.tile(static_cast<int>(d));
    if (extents[d] < 1 || extents[d] > kMostMapped || tile > kMostMapped) {
      throw UsageError("layout '" + layout + "': expected extents and tiles from 1 to 2^20");
    }
    map.padded.push_back(round_up(extents[d], tile));
    count *= map.padded.back();
    if (count > kMostMapped) {
      throw UsageError("layout '" + layout + "': more than 2^20 elements, padding included");
    }
  }
  const layout::BoundLayout bound(order, map.padded);
  Shape at(extents.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i;
    for (std::size_t d = at.size(); d-- > 0; rest /= map.padded[d]) at[d] = rest % map.padded[d];
    map.offsets.push_back(bound.offset(at));
  }
  return map;
}

}  // namespace morton
