// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "source/element.hpp"
#include "source/instance.hpp"

namespace morton::source {

/// Text by which a kernel writes dst in runs: neighbours in memory whose coordinates differ in one
/// only, by one from each to the next. What they read lies at a position that is a sum, of a part
/// that depends on that coordinate alone and stands in a table, and of one that is worked out once
/// for each run. Dimensions of one element make no runs: those inside of the coordinate's are
/// passed over, so the text depends on which these are. The macros are listed in
/// docs/how_to/add_a_kernel.md.
struct RunTexts {
  std::vector<MacroText> macros;
  std::set<std::string> sizes;  ///< arguments that they need
};

/// For `dst` dense, with a grouping, and `src` of the same problem. Where the sum does not exist (a
/// tiled tensor behind a view that mixes coordinates), or dst's memory joins dimensions otherwise
/// than its view, runs are one element long.
[[nodiscard]] RunTexts run_texts(const InstanceOperand& dst, const InstanceOperand& src);

}  // namespace morton::source
