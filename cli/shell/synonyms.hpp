// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace morton::cli {

/// "--num_runs", "-numRuns" and "--num-runs" in one form: "numruns".
[[nodiscard]] std::string plain_word(std::string_view word);

/// What programs like this one call an option, and what it is called here: "--iterations",
/// "--device gpu", or "MODEL" for the model's argument. Several where it depends on the command.
[[nodiscard]] std::vector<std::string> options_called(const std::string& plain);

/// Likewise of commands.
[[nodiscard]] std::vector<std::string> commands_called(const std::string& plain);

}  // namespace morton::cli
