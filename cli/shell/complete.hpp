// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "words/cli11_names.hpp"

namespace morton::cli {

/// The hidden command of shells: `morton complete WORDS...`.
inline constexpr const char* kCompleteCommand = "complete";

/// What may stand in place of the last of `words`, those behind the program's name, for the scripts
/// in cli/shell. A line for each word: the word, and behind a tab what it means. A line that begins
/// with a tab asks for files: "files" or "folders", what stands before the file's name in the same
/// word, and the endings that count, with tabs between.
[[nodiscard]] std::string completions(const CLI::App& program,
                                      const std::vector<std::string>& words);

}  // namespace morton::cli
