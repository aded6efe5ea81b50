// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/stopwatch.hpp"

namespace morton::cli {

/// What a file descriptor can show.
struct Terminal {
  bool interactive = false;  ///< a person looks at it
  bool colour = false;       ///< and colours are welcome (NO_COLOR, TERM=dumb)
  bool utf8 = false;         ///< the locale says so
  int width = 80;            ///< in characters
};

/// Facts of standard output (1) or standard error (2).
[[nodiscard]] Terminal terminal_of(int descriptor);

enum class Colour : std::uint8_t { red, green, yellow, bold };

/// `text` in a colour where the terminal takes it, else as it is.
[[nodiscard]] std::string coloured(const Terminal& terminal, Colour colour, std::string_view text);

/// Number of characters of UTF-8 text.
[[nodiscard]] std::size_t characters_of(std::string_view text);

/// A line on standard error that says how far a long job is and when it will end. It shows only on
/// a terminal, only after two seconds, and not at all with --quiet.
class Progress {
 public:
  explicit Progress(std::string label);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// `fraction` of the job is done (0 to 1).
  void update(double fraction);
  /// Says what is being done from now on.
  void relabel(std::string label) { label_ = std::move(label); }

 private:
  std::string label_;
  Stopwatch whole_;
  Stopwatch shown_;  ///< since the line changed, where it is visible
  bool enabled_ = false;
  bool visible_ = false;
};

}  // namespace morton::cli
