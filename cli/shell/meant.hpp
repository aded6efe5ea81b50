// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "words/cli11_names.hpp"

namespace morton::cli {

/// "; did you mean '--iterations'?" where `word` is like an option of `command`, is what other
/// programs call one, or is an option of other commands; else "".
[[nodiscard]] std::string option_meant(const CLI::App& command, const std::string& word);

/// Likewise a command below `command`: "; did you mean 'bench'?".
[[nodiscard]] std::string command_meant(const CLI::App& command, const std::string& word);

/// What is wrong with "-niter": the parser takes it for -n with a value. Empty where no word of a
/// command line has one dash before the name of an option.
[[nodiscard]] std::string single_dash(const CLI::App& program,
                                      const std::vector<std::string>& words);

/// What is wrong with a command line, in words of its own where those of the parser mislead.
[[nodiscard]] std::string complaint(const CLI::App& program, const CLI::Error& error);

/// The innermost command that was named, for the hint of a usage error.
[[nodiscard]] std::string help_hint(const CLI::App& program);

}  // namespace morton::cli
