// SPDX-License-Identifier: Apache-2.0
#include "formats/load_limits.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>

#include "base/error.hpp"
#include "base/shape.hpp"
#include "base/text/number_text.hpp"

namespace morton {
namespace {

/// A limit that counts, by its name.
struct CountedLimit {
  std::string_view name;
  std::int64_t LoadLimits::*member;
  enum class Unit : std::uint8_t { number, bytes } unit = Unit::number;
};

constexpr CountedLimit kCounted[] = {
    {"file", &LoadLimits::file_bytes, CountedLimit::Unit::bytes},
    {"external", &LoadLimits::external_bytes, CountedLimit::Unit::bytes},
    {"memory", &LoadLimits::memory_bytes, CountedLimit::Unit::bytes},
    {"folded", &LoadLimits::folded_bytes, CountedLimit::Unit::bytes},
    {"nodes", &LoadLimits::nodes},
    {"constants", &LoadLimits::constants},
    {"depth", &LoadLimits::depth},
    {"elements", &LoadLimits::elements},
    {"pixels", &LoadLimits::pixels},
};
constexpr std::string_view kSeconds = "seconds";

/// A whole number of 1 or more, of bytes with a unit behind it or none.
std::optional<std::int64_t> counted(std::string_view text, CountedLimit::Unit unit) {
  std::int64_t factor = 1;
  if (unit == CountedLimit::Unit::bytes && text.ends_with("iB")) {
    text.remove_suffix(2);
    const std::size_t power =
        text.empty() ? std::string_view::npos : std::string_view("KMG").find(text.back());
    if (power == std::string_view::npos) return std::nullopt;
    text.remove_suffix(1);
    factor = std::int64_t{1024} << (10 * power);
  }
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  const bool is_one = problem == std::errc() && stop == end && value >= 1;
  if (!is_one || value > LoadLimits::kNone / factor) return std::nullopt;
  return value * factor;
}

std::optional<double> seconds_in(std::string_view text) {
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  const bool is_one = problem == std::errc() && stop == end && std::isfinite(value) && value > 0.0;
  return is_one ? std::optional(value) : std::nullopt;
}

[[noreturn]] void refuse_limit(std::string_view text, const std::string& what) {
  throw UsageError(setting("limits", std::string(text)) + ": " + what);
}

void take_limit(LoadLimits& limits, std::string_view text) {
  const std::string_view name = text.substr(0, text.find('='));
  const std::string_view value = text.substr(std::min(name.size() + 1, text.size()));
  if (name == kSeconds) {
    const auto seconds = seconds_in(value);
    if (!seconds) refuse_limit(text, "expected seconds, more than 0");
    limits.seconds = *seconds;
    return;
  }
  std::string known;
  for (const CountedLimit& limit : kCounted) {
    known += std::string(limit.name) + ", ";
    if (limit.name != name) continue;
    const auto number = counted(value, limit.unit);
    const bool is_bytes = limit.unit == CountedLimit::Unit::bytes;
    if (!number) {
      refuse_limit(text, is_bytes ? "expected bytes, such as 64MiB" : "expected a number from 1");
    }
    limits.*limit.member = *number;
    return;
  }
  refuse_limit(text, "there is no such limit; there are " + known + std::string(kSeconds));
}

}  // namespace

LoadLimits with_limits(LoadLimits limits, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    take_limit(limits, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return limits;
}

void formats::refuse_beyond(std::string_view name, std::int64_t limit, std::string_view what,
                            const std::string& where) {
  throw UnsupportedError(where + ": more than " + std::to_string(limit) + " " + std::string(what) +
                         "; " + setting("limits", std::string(name) + "=N") + " allows more");
}

void formats::require_elements(const LoadLimits& limits, const Shape& shape,
                               const std::string& where) {
  if (element_count(shape, where.c_str()) <= limits.elements) return;
  refuse_beyond("elements", limits.elements, "elements in one tensor", where);
}

void formats::require_seconds(const LoadLimits& limits, double seconds, const std::string& where) {
  if (limits.seconds <= 0.0 || seconds <= limits.seconds) return;
  throw UnsupportedError(where + ": takes more than " + exact_text(limits.seconds) +
                         " seconds to load; " + setting("limits", "seconds=N") + " allows more");
}

}  // namespace morton
