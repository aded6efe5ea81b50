// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace morton::cli::pages {

/// The words as a shell takes them: "morton plan 'my model.onnx'".
[[nodiscard]] std::string shell_text(const std::vector<std::string>& words);

/// The line that started this program, without the folder that it lies in. "morton" where the
/// system does not say.
[[nodiscard]] std::string command_line();

}  // namespace morton::cli::pages
