// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/rooms.hpp"
#include "ops/signals/resizing.hpp"

namespace morton::ops {

/// Along one dimension: for each element of the result `taps` places of the source, and weights.
struct ResizeTable {
  std::int64_t output = 0, taps = 1;
  std::vector<std::int64_t> places;
  std::vector<double> weights;
  std::vector<bool> outside;  ///< of each element: it lies outside of the source
};

/// The table of dimension d. Nearest elements have no weights there. Throws UnsupportedError, with
/// `where` before it, for a table that no memory holds.
[[nodiscard]] ResizeTable table_of(const Resizing& resizing, std::size_t d,
                                   const std::string& where);
/// Whether dimension d stays as it is.
[[nodiscard]] bool keeps_dimension(const Resizing& resizing, std::size_t d);

}  // namespace morton::ops
