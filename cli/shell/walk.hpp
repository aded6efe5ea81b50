// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "words/cli11_names.hpp"

namespace morton::cli {

/// How far the words of a command line have come.
struct Place {
  const CLI::App* command = nullptr;      ///< the innermost command that is named
  const CLI::Option* pending = nullptr;   ///< option whose value comes next
  std::vector<const CLI::Option*> given;  ///< options that are named
  std::size_t arguments = 0;              ///< words that are neither command, option nor value
  bool ended = false;                     ///< behind "--": no word is an option any more
};

/// The option of this name ("--batch", "-b") of a command or of one above it; null where there is
/// none, or where help does not show it.
[[nodiscard]] const CLI::Option* option_named(const CLI::App& command, const std::string& name);
[[nodiscard]] bool takes_value(const CLI::Option& option);
/// The commands below this one that help shows.
[[nodiscard]] std::vector<const CLI::App*> shown_commands(const CLI::App& command);
/// "--batch" of each option of a command and those above it that help shows.
[[nodiscard]] std::vector<std::string> long_names(const CLI::App& command);
/// "bench gemm"; "" for the program itself.
[[nodiscard]] std::string command_path(const CLI::App& command);

/// Reads the words behind the program's name. Runs nothing, and refuses nothing.
[[nodiscard]] Place walk(const CLI::App& program, const std::vector<std::string>& words);

}  // namespace morton::cli
