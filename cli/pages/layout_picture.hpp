// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "morton/tools/layout.hpp"
#include "pages/drawing.hpp"

namespace morton::cli {

/// A picture in SVG of a matrix: its elements with their offsets, and the path that memory takes
/// through them. Padding is pale. Light and dark follow the viewer. Throws UsageError for a tensor
/// that is no matrix, or has more than 64 rows or columns.
[[nodiscard]] std::string picture_of(const LayoutMap& map);

/// The same for a page, whose style sheet colours it.
[[nodiscard]] pages::Drawing drawing_of(const LayoutMap& map);

}  // namespace morton::cli
