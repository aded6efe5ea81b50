// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

#include "base/files/file.hpp"
#include "support/rooms.hpp"

namespace morton::test {

/// Text of a page, named relative to the repository.
inline std::string text_of_page(const std::string& page) {
  return read_file(std::filesystem::path(MORTON_SOURCE_DIR) / page, 1 << 20);
}

/// The files that a page shows: each fenced block that directly follows a line
/// `<!-- file: gemm/rows4.cl -->`, by that name.
inline std::map<std::string, std::string> files_of_page(const std::string& page) {
  const std::string marker = "<!-- file: ";
  std::istringstream lines(text_of_page(page));
  std::map<std::string, std::string> files;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(marker)) continue;
    const std::string name = line.substr(marker.size(), line.rfind(" -->") - marker.size());
    if (!std::getline(lines, line) || !line.starts_with("```")) {
      throw std::runtime_error(page + ": no fenced block follows the marker of " + name);
    }
    std::string& text = files[name];
    while (std::getline(lines, line) && line != "```") text += line + "\n";
  }
  return files;
}

}  // namespace morton::test
