// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace morton {

/// OpenCL C without what changes nothing, for digests and searches, not for compilers. Two texts
/// with the same bare code mean the same:
///
/// - A backslash at a line's end joins the line to the next one.
/// - A comment is a blank.
/// - Blanks that follow each other are one blank. So are line ends outside of directives. Blanks at
///   the ends of the text and beside directives are dropped; empty lines are.
/// - A directive (`#define`) stands in a line of its own. `#line` is dropped.
/// - Strings and characters stay as they are.
///
/// A text is returned as it is where lines may matter (`__LINE__`, `__FILE__`), or where compilers
/// disagree what a line is: a trigraph for a backslash, a blank behind a backslash at a line's end,
/// a carriage return without a line feed.
[[nodiscard]] std::string bare_code(std::string_view text);

}  // namespace morton
