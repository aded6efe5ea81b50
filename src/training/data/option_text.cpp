// SPDX-License-Identifier: Apache-2.0
#include "training/data/option_text.hpp"

#include <charconv>
#include <cmath>
#include <set>

#include "base/error.hpp"

namespace morton::training {
namespace {

[[noreturn]] void fail_option(const std::string& what, const std::string& why) {
  throw UsageError(setting(what) + ": " + why);
}

}  // namespace

std::vector<OptionPart> option_parts(const std::string& what, std::string_view text) {
  std::vector<OptionPart> parts;
  std::set<std::string> names;
  while (true) {
    const auto comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const auto equals = part.find('=');
    const std::string name(part.substr(0, equals));
    if (name.empty()) fail_option(what, "expected name=value between commas, got an empty part");
    if (!names.insert(name).second) fail_option(what, "'" + name + "' is there twice");
    const bool alone = equals == std::string_view::npos;
    parts.push_back({name, alone ? "" : std::string(part.substr(equals + 1))});
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

std::int64_t whole_of(const std::string& what, const OptionPart& part, std::int64_t least) {
  std::int64_t number = 0;
  const char* end = part.value.data() + part.value.size();
  const auto [stop, status] = std::from_chars(part.value.data(), end, number);
  if (status != std::errc() || stop != end || number < least) {
    fail_option(what, part.name + ": expected a whole number of " + std::to_string(least) +
                          " or more, got '" + part.value + "'");
  }
  return number;
}

double real_of(const std::string& what, const OptionPart& part) {
  double number = 0.0;
  const char* end = part.value.data() + part.value.size();
  const auto [stop, status] = std::from_chars(part.value.data(), end, number);
  if (status != std::errc() || stop != end || !std::isfinite(number)) {
    fail_option(what, part.name + ": expected a number, got '" + part.value + "'");
  }
  return number;
}

}  // namespace morton::training
