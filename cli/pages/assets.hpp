// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace morton::cli::pages {

/// CSS of all pages: colours of the light and the dark scheme, tables, and the classes of drawings.
[[nodiscard]] const char* style_sheet();

/// JavaScript of all pages: tables that sort.
[[nodiscard]] const char* script();

}  // namespace morton::cli::pages
