// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <string>

namespace morton {

/// The shortest text that tells this number from every other: for keys. "0.1", "1e-07", "-inf".
[[nodiscard]] inline std::string exact_text(double value) {
  std::array<char, 32> digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return std::string(digits.data(), written.ptr);
}

}  // namespace morton
