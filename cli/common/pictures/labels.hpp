// SPDX-License-Identifier: Apache-2.0
//
// Names of classes.
#pragma once

#include <string>
#include <vector>

namespace morton::cli {

/// "imagenet": the list that the program holds; else the lines of that file; none of an empty text.
[[nodiscard]] std::vector<std::string> read_labels(const std::string& name_or_path);

}  // namespace morton::cli
