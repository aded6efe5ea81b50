// SPDX-License-Identifier: Apache-2.0
#include "catalogue/entry_digest.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/files/file.hpp"
#include "base/text/identifiers.hpp"

namespace morton::catalogue {
namespace {

/// An expression or a name without its blanks, but for one between two words.
std::string without_blanks(std::string_view text) {
  std::string bare;
  bool gap = false;
  for (const char c : text) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      gap = true;
      continue;
    }
    if (gap && !bare.empty() && is_in_identifiers(bare.back()) && is_in_identifiers(c)) bare += ' ';
    gap = false;
    bare += c;
  }
  return bare;
}

/// Where a member of the declaration stands.
enum class Level : std::uint8_t { declaration, cost, tunables, tunable, within };

bool is_left_out(Level level, std::string_view key) {
  constexpr std::array kOfDeclaration{"schema",  "name",       "codename",  "source",
                                      "notes",   "considered", "require",   "generic",
                                      "include", "uses",       "work_group"};
  constexpr std::array kOfCost{"bytes", "pieces", "efficiency"};
  switch (level) {
    case Level::declaration:
      return std::ranges::find(kOfDeclaration, key) != kOfDeclaration.end();
    case Level::cost:
      return std::ranges::find(kOfCost, key) != kOfCost.end();
    case Level::tunable:
      return key == "standard" || key == "tried";
    case Level::tunables:
    case Level::within:
      break;
  }
  return false;
}

Level level_of(Level around, std::string_view key) {
  if (around == Level::tunables) return Level::tunable;
  if (around == Level::declaration && key == "cost") return Level::cost;
  if (around == Level::declaration && key == "tunables") return Level::tunables;
  return Level::within;
}

/// The key of padding contents, and what it was called when the first records were made.
constexpr std::string_view kPadding = "padding", kRim = "rim";

std::string_view digested_name(std::string_view key) { return key == kPadding ? kRim : key; }

/// The text of a declaration with the former names of keys.
std::string with_former_names(std::string_view declaration) {
  const std::string now = '"' + std::string(kPadding) + "\":";
  const std::string before = '"' + std::string(kRim) + "\":";
  std::string text(declaration);
  for (auto at = text.find(now); at != std::string::npos; at = text.find(now, at)) {
    text.replace(at, now.size(), before);
  }
  return text;
}

/// Appends the values that count. Sizes stand before texts, so that no two values are written
/// alike.
void append_values(const Json& value, Level level, std::string& text) {
  if (value.is_object()) {
    text += '{';
    for (const auto& [key, member] : value.items()) {
      if (is_left_out(level, key)) continue;
      const std::string_view name = digested_name(key);
      text += std::to_string(name.size()) + ':' + std::string(name);
      append_values(member, level_of(level, key), text);
    }
    text += '}';
  } else if (value.is_array()) {
    text += '[';
    for (const Json& element : value) append_values(element, Level::within, text);
    text += ']';
  } else if (value.is_string()) {
    const std::string bare = without_blanks(value.get_ref<const std::string&>());
    text += std::to_string(bare.size()) + '"' + bare;
  } else {
    text += value.dump() + ',';
  }
}

}  // namespace

std::string kernel_digest(const Json& declaration, std::string_view code) {
  std::string text;
  append_values(declaration, Level::declaration, text);
  return digest_of(text.append("\n").append(code));
}

std::string files_digest(std::string_view declaration) {
  return digest_of(with_former_names(declaration));
}

std::string files_digest(std::string_view declaration, std::string_view source) {
  return digest_of(files_digest(declaration).append(source));
}

}  // namespace morton::catalogue
