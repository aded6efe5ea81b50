// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "words/cli11_names.hpp"

namespace morton::cli {

/// A word that may stand at the end of a command line.
struct Offer {
  std::string text;
  std::string meaning = "";  ///< a few words; empty: none
};

/// Files for which the shell looks itself.
struct WantedFiles {
  std::string before;                   ///< what stands before the file's name in the same word
  std::vector<std::string> extensions;  ///< "onnx"; empty: any
  enum class Kind : std::uint8_t { files, folders } kind = Kind::files;
};

struct Offers {
  std::vector<Offer> words;  ///< whole words, with what stands before
  std::optional<WantedFiles> files;
};

/// Values of an option or argument of `command` that begin with `word`. `before` stands in front of
/// the value in the same word ("--device="). Calls OpenCL for devices alone.
[[nodiscard]] Offers offers_of_value(const CLI::App& command, const CLI::Option& option,
                                     const std::string& before, const std::string& word);

}  // namespace morton::cli
