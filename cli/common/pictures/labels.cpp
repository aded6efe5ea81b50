// SPDX-License-Identifier: Apache-2.0
#include "common/pictures/labels.hpp"

#include <morton/labels.hpp>
#include <sstream>

#include "common/output.hpp"

namespace morton::cli {
std::vector<std::string> read_labels(const std::string& name_or_path) {
  std::vector<std::string> labels;
  if (name_or_path.empty()) return labels;
  std::istringstream lines(name_or_path == "imagenet" ? std::string(kImagenetLabels)
                                                      : read_text(name_or_path));
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    labels.push_back(line);
  }
  return labels;
}

}  // namespace morton::cli
