// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "layout/layout.hpp"

namespace morton::tools {

/// A layout that a caller names. Throws UsageError for a text that is none.
[[nodiscard]] inline layout::Layout layout_of_argument(const std::string& text,
                                                       const std::vector<std::string>& dimensions) {
  try {
    return layout::Layout::parse(text, dimensions);
  } catch (const ModelError& error) {
    throw UsageError(error.message());
  }
}

}  // namespace morton::tools
