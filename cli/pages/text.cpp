// SPDX-License-Identifier: Apache-2.0
#include "pages/text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "common/terminal.hpp"

namespace morton::cli::pages {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
/// Of a drawing's letters, which are 12 units high.
constexpr double kLetterWidth = 7.4;

/// Bytes of the character that begins `text`, or 0 where they are no UTF-8.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t bytes = first < 0x80                    ? 1
                            : first >= 0xC2 && first < 0xE0 ? 2
                            : first >= 0xE0 && first < 0xF0 ? 3
                            : first >= 0xF0 && first < 0xF5 ? 4
                                                            : 0;
  if (bytes == 0 || bytes > text.size()) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if (bytes < 3) return bytes;
  // Longer than need be, a surrogate, or beyond the last character.
  const unsigned char second = byte(1);
  const bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
                     (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
  return wrong ? 0 : bytes;
}

std::string_view entity_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    const auto first = static_cast<unsigned char>(text.front());
    const bool control = (first < 0x20 && first != '\n' && first != '\t') || first == 0x7F;
    if (bytes == 0 || control) {
      out += kReplacement;
    } else if (const std::string_view entity = entity_of(text.front()); !entity.empty()) {
      out += entity;
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t characters) {
  if (characters_of(text) <= characters) return std::string(text);
  std::size_t end = 0;
  for (std::size_t left = characters; left > 1 && end < text.size(); --left) {
    end += std::max<std::size_t>(1, character_bytes(text.substr(end)));
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string tick_text(double value) {
  const double size = std::fabs(value);
  if (size == 0.0) return "0";
  if (!std::isfinite(value)) return "n/a";
  if (size < 1e-4) return fmt::format("{:.2g}", value);
  static constexpr std::array<std::string_view, 4> kPrefixes{"", "k", "M", "G"};
  std::size_t prefix = 0;
  double scaled = value;
  if (size >= 1e4) {
    while (std::fabs(scaled) >= 999.5 && prefix + 1 < kPrefixes.size()) {
      scaled /= 1e3;
      ++prefix;
    }
  }
  if (std::fabs(scaled) >= 1e5) return fmt::format("{:.3g}", value);
  return fmt::format("{:.{}g}{}", scaled, std::fabs(scaled) >= 1e3 ? 4 : 3, kPrefixes[prefix]);
}

double text_width(std::string_view text) {
  return kLetterWidth * static_cast<double>(characters_of(text));
}

}  // namespace morton::cli::pages
