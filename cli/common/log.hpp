// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

namespace morton::cli {

/// quiet: warnings and errors; normal: notes too; verbose: what the library tells as well.
enum class Verbosity : std::uint8_t { quiet, normal, verbose };

/// Sends spdlog's default logger to standard error. Notes (info) have no prefix, warnings begin
/// with "warning: ".
void start_log(Verbosity verbosity);

/// Messages on standard error, as start_log says; only log.cpp reads spdlog's slow header.
namespace log {

enum class Level : std::uint8_t { debug, info, warning, error };

/// Whether messages of this level are printed.
[[nodiscard]] bool shows(Level level);

void write(Level level, const std::string& message);

template <typename... Values>
void debug(fmt::format_string<Values...> text, Values&&... values) {
  write(Level::debug, fmt::format(text, std::forward<Values>(values)...));
}
template <typename... Values>
void info(fmt::format_string<Values...> text, Values&&... values) {
  write(Level::info, fmt::format(text, std::forward<Values>(values)...));
}
template <typename... Values>
void warn(fmt::format_string<Values...> text, Values&&... values) {
  write(Level::warning, fmt::format(text, std::forward<Values>(values)...));
}
template <typename... Values>
void error(fmt::format_string<Values...> text, Values&&... values) {
  write(Level::error, fmt::format(text, std::forward<Values>(values)...));
}

}  // namespace log

/// Prints "morton: <message>" on standard error. Further lines of the message (a compiler's log, a
/// list of devices) and the hint, unless it is empty, follow indented.
void print_error(const std::string& message, const std::string& hint);

}  // namespace morton::cli
