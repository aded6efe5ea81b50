// SPDX-License-Identifier: Apache-2.0
#include "device/open/build_log.hpp"

#include <sstream>

namespace morton::device {
namespace {

constexpr int kMaxLogLines = 40;
constexpr std::size_t kMaxLogBytes = 8000;

}  // namespace

std::string shortened_log(const std::string& log) {
  std::istringstream lines(log);
  std::string text;
  std::string line;
  int count = 0;
  while (std::getline(lines, line)) {
    if (++count > kMaxLogLines || text.size() + line.size() > kMaxLogBytes) {
      return text + "\n  ... (" + std::to_string(log.size()) + " bytes of log in all)";
    }
    text += "\n  " + line;
  }
  return text;
}

}  // namespace morton::device
