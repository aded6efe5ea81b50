// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <string_view>

#include "support/rooms.hpp"

namespace morton::test {

/// The next part of an input that stands for several files: up to a line of three equals signs,
/// which goes too.
inline std::string_view next_section(std::string_view& bytes) {
  constexpr std::string_view kMark = "\n===\n";
  const std::size_t mark = bytes.find(kMark);
  const std::string_view section = bytes.substr(0, mark);
  bytes.remove_prefix(mark == std::string_view::npos ? bytes.size() : mark + kMark.size());
  return section;
}

/// Writes the next part to a file of that path.
inline void write_section(const std::filesystem::path& path, std::string_view& bytes) {
  std::ofstream(path, std::ios::binary) << next_section(bytes);
}

}  // namespace morton::test
