// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace morton::cli {

/// quiet: warnings and errors; normal: notes too; verbose: what the library tells as well.
enum class Verbosity : std::uint8_t { quiet, normal, verbose };

/// Sends spdlog's default logger to standard error. Notes (info) have no prefix, warnings begin
/// with "warning: ".
void start_log(Verbosity verbosity);

/// Prints "morton: <message>" on standard error. Further lines of the message (a compiler's log, a
/// list of devices) and the hint, unless it is empty, follow indented.
void print_error(const std::string& message, const std::string& hint);

}  // namespace morton::cli
