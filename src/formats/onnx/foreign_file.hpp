// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace morton::formats {

/// What a file that is no model is by its first bytes: "it is a PNG picture", with what helps where
/// something does. Empty where they say nothing.
[[nodiscard]] std::string_view what_file_is(std::string_view bytes);

}  // namespace morton::formats
