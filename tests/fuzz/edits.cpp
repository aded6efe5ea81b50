// SPDX-License-Identifier: Apache-2.0
#include "fuzz/edits.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace morton::test {
namespace {

/// An unsigned number of `bytes` bytes, the lowest first, from the front of `script`.
std::uint64_t taken(std::string_view& script, std::size_t bytes) {
  std::uint64_t number = 0;
  const std::size_t count = std::min(bytes, script.size());
  for (std::size_t i = 0; i < count; ++i) {
    number |= std::uint64_t{static_cast<unsigned char>(script[i])} << (8 * i);
  }
  script.remove_prefix(count);
  return number;
}

/// Sign-extended from 40 bits, so that a script reaches numbers below zero.
std::uint64_t widened(std::uint64_t number) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(number << 24) >> 24);
}

/// The bytes outside of long texts, such as kernels' sources: structure lies there.
std::vector<std::size_t> places_of_structure(std::string_view bytes) {
  constexpr std::size_t kLongText = 64;
  const auto is_text = [](char c) { return (c >= ' ' && c <= '~') || c == '\n'; };
  std::vector<std::size_t> places;
  for (std::size_t begin = 0; begin < bytes.size();) {
    std::size_t end = begin;
    while (end < bytes.size() && is_text(bytes[end])) ++end;
    if (end - begin >= kLongText) begin = end;
    if (end == begin) ++end;
    for (; begin < std::min(end, bytes.size()); ++begin) places.push_back(begin);
  }
  return places;
}

void overwrite(std::string& bytes, std::size_t at, std::uint64_t value, std::size_t size) {
  std::memcpy(bytes.data() + at, &value, std::min(size, bytes.size() - at));
}

}  // namespace

EditableFile::EditableFile(std::string bytes)
    : bytes_(std::move(bytes)), places_(places_of_structure(bytes_)) {}

std::string EditableFile::edited(std::string_view script) const {
  enum Edit : std::uint8_t { byte, small, word, add, cut, insert, end, kinds };
  std::string file = bytes_;
  while (!script.empty() && !file.empty() && !places_.empty()) {
    const auto kind = static_cast<Edit>(taken(script, 1) % kinds);
    const std::size_t at = std::min(places_[taken(script, 4) % places_.size()], file.size() - 1);
    const std::uint64_t value = taken(script, 5);
    switch (kind) {
      case byte:
        overwrite(file, at, value, 1);
        break;
      case small:
        overwrite(file, at, value, 4);
        break;
      case word:
        overwrite(file, at, widened(value), 8);
        break;
      case add:
        file[at] = static_cast<char>(file[at] + static_cast<char>(value));
        break;
      case cut:
        file.erase(at, value % 64);
        break;
      case insert:
        file.insert(at, value % 64, static_cast<char>(value >> 8));
        break;
      default:
        file.resize(at);
        break;
    }
  }
  return file;
}

}  // namespace morton::test
