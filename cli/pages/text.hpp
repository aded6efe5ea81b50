// SPDX-License-Identifier: Apache-2.0
//
// Words and numbers of pages.
#pragma once

#include <string>
#include <string_view>

namespace morton::cli::pages {

/// `text` for HTML and SVG, between tags or in quotes: nothing in it is markup. Control characters
/// and bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);

/// The first `characters` of UTF-8 text, with an ellipsis in place of the last where more follow.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t characters);

/// A number at an axis or a bar: "0.001", "12.5", "1500", "20k", "3.5M", "1e-07".
[[nodiscard]] std::string tick_text(double value);

/// Units of a drawing that the text takes at most.
[[nodiscard]] double text_width(std::string_view text);

}  // namespace morton::cli::pages
