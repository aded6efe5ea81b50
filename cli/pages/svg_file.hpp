// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "pages/page.hpp"

namespace morton::cli::pages {

/// A file of the figures below each other, with their titles and captions. Colours are those of
/// pages; light and dark follow the viewer.
[[nodiscard]] std::string svg_file(const std::vector<Figure>& figures);

}  // namespace morton::cli::pages
