// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/files/file.hpp"
#include "support/rooms.hpp"

namespace morton::test {

/// Text of a page, named relative to the repository.
inline std::string text_of_page(const std::string& page) {
  return read_file(std::filesystem::path(MORTON_SOURCE_DIR) / page, 1 << 20);
}

/// Each fenced block of a page that directly follows a line `<!-- <what>: NAME -->`, with that
/// name, in order.
inline std::vector<std::pair<std::string, std::string>> blocks_of_page(const std::string& page,
                                                                       const std::string& what) {
  const std::string marker = "<!-- " + what + ": ";
  std::istringstream lines(text_of_page(page));
  std::vector<std::pair<std::string, std::string>> blocks;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(marker)) continue;
    const std::string name = line.substr(marker.size(), line.rfind(" -->") - marker.size());
    if (!std::getline(lines, line) || !line.starts_with("```")) {
      throw std::runtime_error(page + ": no fenced block follows the marker of " + name);
    }
    std::string text;
    while (std::getline(lines, line) && line != "```") text += line + "\n";
    blocks.emplace_back(name, text);
  }
  return blocks;
}

/// The files that a page shows whole (`<!-- file: NAME -->`), by name.
inline std::map<std::string, std::string> files_of_page(const std::string& page) {
  const auto blocks = blocks_of_page(page, "file");
  return {blocks.begin(), blocks.end()};
}

}  // namespace morton::test
