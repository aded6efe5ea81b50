// SPDX-License-Identifier: Apache-2.0
//
// The two notations of a layout: R17's grammar for matrices, letters for tensors.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "base/text/split.hpp"
#include "layout/layout.hpp"

namespace morton::layout {
namespace {

constexpr int kRow = 0;
constexpr int kColumn = 1;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string quoted(std::string_view text) { return "layout '" + std::string(text) + "': "; }

std::int64_t parse_extent(std::string_view digits, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < 1) {
    throw ModelError(quoted(text) + "expected an extent from 1 to 2^63-1, got '" +
                     std::string(digits) + "'");
  }
  return value;
}

// Matrices --------------------------------------------------------------------------------------

/// Rows and columns of a tile; 0 is the whole matrix's.
using TileSize = std::array<std::int64_t, 2>;

/// One triplet of R17's grammar: a tile and the order of what is in it.
struct Level {
  TileSize tile{0, 0};
  char base = 'R';
};

std::vector<Level> parse_levels(std::string_view text) {
  const auto parts = split(text, '_');
  if (parts.size() % 3 != 1) {
    throw ModelError(
        quoted(text) +
        "expected R or C, then _rows_columns_ and R or C for each level of tiles, as in "
        "R_2_4_R");
  }
  std::vector<Level> levels;
  for (std::size_t i = 0; i < parts.size(); i += 3) {
    Level level;
    if (parts[i] != "R" && parts[i] != "C") {
      throw ModelError(quoted(text) + "expected R or C, got '" + std::string(parts[i]) + "'");
    }
    level.base = parts[i].front();
    for (int d = 0; i > 0 && d < 2; ++d) {
      const std::string_view extent = parts[i - 2 + d];
      level.tile[d] = extent == "*" ? levels.back().tile[d] : parse_extent(extent, text);
    }
    levels.push_back(level);
  }
  return levels;
}

Layout parse_matrix(std::string_view text) {
  const std::vector<Level> levels = parse_levels(text);
  std::vector<Loop> loops;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const TileSize& outer = levels[k].tile;
    const TileSize inner = k + 1 < levels.size() ? levels[k + 1].tile : TileSize{1, 1};
    const int first = levels[k].base == 'R' ? kRow : kColumn;
    for (const int d : {first, 1 - first}) {
      if (outer[d] == inner[d]) continue;
      if (outer[d] % inner[d] != 0) {
        throw ModelError(quoted(text) + "a tile of " + std::to_string(outer[d]) +
                         (d == kRow ? " rows" : " columns") + " does not divide into tiles of " +
                         std::to_string(inner[d]));
      }
      loops.push_back({d, outer[d] / inner[d]});
    }
  }
  return Layout(2, std::move(loops));
}

/// The loops as levels of one or two, paired from the inside, so that panels print as such.
std::vector<Level> levels_of(const std::vector<Loop>& loops) {
  std::vector<Level> levels;
  TileSize below{1, 1};
  for (std::size_t i = loops.size(); i > 0;) {
    const bool pair = i > 1 && loops[i - 2].dimension != loops[i - 1].dimension;
    const std::size_t first = i - (pair ? 2 : 1);
    Level level;
    // The base of a level with one loop is free: it takes its neighbour's.
    level.base = levels.empty() ? '?' : levels.back().base;
    if (pair) level.base = loops[first].dimension == kRow ? 'R' : 'C';
    for (; i > first; --i) below[loops[i - 1].dimension] *= loops[i - 1].extent;
    level.tile = below;
    levels.push_back(level);
  }
  std::reverse(levels.begin(), levels.end());
  for (std::size_t k = 1; k < levels.size(); ++k) {
    if (levels[k].base == '?') levels[k].base = levels[k - 1].base;
  }
  return levels;
}

std::string print_matrix(const std::vector<Loop>& loops) {
  std::string text;
  for (const Level& level : levels_of(loops)) {
    for (const std::int64_t extent : level.tile) {
      if (!text.empty()) text += extent == 0 ? "*_" : std::to_string(extent) + "_";
    }
    text += level.base;
    text += '_';
  }
  text.pop_back();
  return text;
}

// Tensors ---------------------------------------------------------------------------------------

char letter_of(const std::string& dimension) {
  return dimension.empty()
             ? '\0'
             : static_cast<char>(std::toupper(static_cast<unsigned char>(dimension.back())));
}

std::string names_text(std::span<const std::string> dimensions) {
  std::string text;
  for (const auto& name : dimensions) text += (text.empty() ? "" : ", ") + name;
  return text;
}

int find_dimension(char letter, std::string_view text, std::span<const std::string> dimensions) {
  int found = -1;
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    if (letter_of(dimensions[d]) != letter) continue;
    if (found >= 0) {
      throw ModelError(quoted(text) + "'" + letter + "' is both " + dimensions[found] + " and " +
                       dimensions[d]);
    }
    found = static_cast<int>(d);
  }
  if (found < 0) {
    throw ModelError(quoted(text) + "'" + letter +
                     "' ends no dimension's name; the dimensions are " + names_text(dimensions));
  }
  return found;
}

Layout parse_tensor(std::string_view text, std::span<const std::string> dimensions) {
  std::vector<Loop> loops;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t end = i;
    while (end < text.size() && is_digit(text[end])) ++end;
    const bool fixed = end > i;
    const auto letter = static_cast<unsigned char>(end < text.size() ? text[end] : ' ');
    if (std::isalpha(letter) == 0 || (std::islower(letter) != 0) != fixed) {
      throw ModelError(quoted(text) + "at '" + std::string(text.substr(i)) +
                       "': expected an upper-case letter (a whole dimension), or a number and a "
                       "lower-case letter (a tile), as in NCHW4c");
    }
    const int dimension = find_dimension(static_cast<char>(std::toupper(letter)), text, dimensions);
    loops.push_back({dimension, fixed ? parse_extent(text.substr(i, end - i), text) : 0});
    i = end;
  }
  const auto rank = static_cast<int>(dimensions.size());
  if (const auto complaint = complaint_of(rank, loops)) {
    throw ModelError(quoted(text) + *complaint + " (of " + names_text(dimensions) + ")");
  }
  return Layout(rank, std::move(loops));
}

}  // namespace

Layout Layout::parse(std::string_view text, std::span<const std::string> dimensions) {
  if (dimensions.size() > kMaxRank) {
    throw ModelError(quoted(text) + std::to_string(dimensions.size()) + " dimensions; at most " +
                     std::to_string(kMaxRank) + " are supported");
  }
  if (dimensions.size() == 2) return parse_matrix(text);
  return parse_tensor(text, dimensions);
}

std::string Layout::print(std::span<const std::string> dimensions) const {
  if (dimensions.size() != static_cast<std::size_t>(rank_)) {
    throw InternalError("layout of " + std::to_string(rank_) + " dimensions: printed with names " +
                        names_text(dimensions));
  }
  if (rank_ == 2) return print_matrix(loops_);
  std::string text;
  for (const Loop& loop : loops_) {
    const char letter = letter_of(dimensions[loop.dimension]);
    if (letter < 'A' || letter > 'Z' ||
        find_dimension(letter, "of " + names_text(dimensions), dimensions) != loop.dimension) {
      throw ModelError("layout: the name '" + dimensions[loop.dimension] +
                       "' ends in no letter to print");
    }
    if (loop.extent > 0) text += std::to_string(loop.extent);
    text += loop.extent > 0 ? static_cast<char>(std::tolower(letter)) : letter;
  }
  return text;
}

}  // namespace morton::layout
