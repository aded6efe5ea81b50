// SPDX-License-Identifier: Apache-2.0
#include "base/text/text_diff.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace morton {
namespace {

using Lines = std::vector<std::string_view>;

/// More pairs of lines than this are not compared for the longest common part.
constexpr std::size_t kMostPairs = std::size_t{64} << 20;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// One line of the result, and how far into both texts it stands.
struct Entry {
  char mark = ' ';
  std::string_view text;
  std::size_t before = 0, after = 0;
};

/// Lengths of the longest common subsequences of all pairs of tails.
class CommonTails {
 public:
  CommonTails(std::span<const std::string_view> a, std::span<const std::string_view> b)
      : columns_(b.size() + 1), length_((a.size() + 1) * columns_, 0) {
    for (std::size_t i = a.size(); i-- > 0;) {
      for (std::size_t j = b.size(); j-- > 0;) {
        length_[i * columns_ + j] =
            a[i] == b[j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
      }
    }
  }
  [[nodiscard]] std::uint32_t at(std::size_t i, std::size_t j) const {
    return length_[i * columns_ + j];
  }

 private:
  std::size_t columns_;
  std::vector<std::uint32_t> length_;
};

std::vector<Entry> entries_of(const Lines& a, const Lines& b) {
  std::size_t first = 0;
  while (first < std::min(a.size(), b.size()) && a[first] == b[first]) ++first;
  std::size_t same = 0;
  while (same < std::min(a.size(), b.size()) - first &&
         a[a.size() - 1 - same] == b[b.size() - 1 - same]) {
    ++same;
  }
  const std::span<const std::string_view> left(a.data() + first, a.size() - first - same);
  const std::span<const std::string_view> right(b.data() + first, b.size() - first - same);
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < first; ++i) entries.push_back({' ', a[i], i, i});
  const bool few = left.empty() || right.size() <= kMostPairs / left.size();
  const CommonTails tails(few ? left : left.first(0), few ? right : right.first(0));
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < left.size() || j < right.size()) {
    const bool both = i < left.size() && j < right.size();
    if (few && both && left[i] == right[j]) {
      entries.push_back({' ', left[i], first + i, first + j});
      ++i;
      ++j;
    } else if (i < left.size() && (!both || !few || tails.at(i + 1, j) >= tails.at(i, j + 1))) {
      entries.push_back({'-', left[i], first + i, first + j});
      ++i;
    } else {
      entries.push_back({'+', right[j], first + i, first + j});
      ++j;
    }
  }
  for (std::size_t k = same; k > 0; --k) {
    entries.push_back({' ', a[a.size() - k], a.size() - k, b.size() - k});
  }
  return entries;
}

std::string part_text(std::span<const Entry> part) {
  std::size_t before = 0;
  std::size_t after = 0;
  std::string text;
  for (const Entry& entry : part) {
    before += entry.mark != '+' ? 1 : 0;
    after += entry.mark != '-' ? 1 : 0;
    text += entry.mark + std::string(entry.text) + "\n";
  }
  const auto range = [](std::size_t first, std::size_t count) {
    // An empty range stands behind the line that it names.
    return std::to_string(count == 0 ? first : first + 1) + "," + std::to_string(count);
  };
  return "@@ -" + range(part[0].before, before) + " +" + range(part[0].after, after) + " @@\n" +
         text;
}

}  // namespace

std::string text_diff(std::string_view before, std::string_view after, int context) {
  const Lines a = lines_of(before);
  const Lines b = lines_of(after);
  const std::vector<Entry> entries = entries_of(a, b);
  const auto around = static_cast<std::size_t>(std::max(context, 0));
  std::string text;
  for (std::size_t at = 0; at < entries.size();) {
    const auto is_change = [](const Entry& entry) { return entry.mark != ' '; };
    const auto from = entries.begin() + static_cast<std::ptrdiff_t>(at);
    const auto change =
        static_cast<std::size_t>(std::find_if(from, entries.end(), is_change) - entries.begin());
    if (change == entries.size()) break;
    const std::size_t start = std::max(at, change - std::min(change, around));
    // The part goes on while the next change is near.
    std::size_t end = change + 1;
    for (std::size_t i = change; i < entries.size() && i <= end + 2 * around; ++i) {
      if (is_change(entries[i])) end = i + 1;
    }
    end = std::min(entries.size(), end + around);
    text += part_text(std::span(entries).subspan(start, end - start));
    at = end;
  }
  return text;
}

}  // namespace morton
