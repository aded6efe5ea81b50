// SPDX-License-Identifier: Apache-2.0
#include "words/option_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>

#include "morton/error.hpp"

namespace morton::cli {
namespace {

[[noreturn]] void fail_set(const std::string& text) {
  throw UsageError(
      fmt::format("--set {}: expected KERNEL:TUNABLE=VALUE,..., such as gemm.tile:TILE_M=8", text));
}

}  // namespace

std::map<std::string, Shape> parse_shapes(const std::vector<std::string>& texts) {
  std::map<std::string, Shape> shapes;
  for (const std::string& text : texts) {
    // Names of tensors may hold colons; extents do not.
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0) {
      throw UsageError(
          fmt::format("--shape {}: expected NAME:EXTENTS, such as input:1x3x224x224", text));
    }
    const std::string name = text.substr(0, colon);
    if (!shapes.emplace(name, parse_shape(text.substr(colon + 1))).second) {
      throw UsageError(fmt::format("--shape: input '{}' is given twice", name));
    }
  }
  return shapes;
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (std::size_t end = 0; end != std::string::npos; start = end + 1) {
    end = text.find(',', start);
    parts.push_back(text.substr(start, end - start));
  }
  return parts;
}

std::map<std::string, std::string> parse_use(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> use;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      throw UsageError(
          fmt::format("--use {}: expected FAMILY=ENTRY, such as gemm=gemm.naive", text));
    }
    const std::string family = text.substr(0, equals);
    if (!use.emplace(family, text.substr(equals + 1)).second) {
      throw UsageError(fmt::format("--use: family '{}' is given twice", family));
    }
  }
  return use;
}

std::map<std::string, std::map<std::string, std::int64_t>> parse_set(
    const std::vector<std::string>& texts) {
  std::map<std::string, std::map<std::string, std::int64_t>> set;
  for (const std::string& text : texts) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos || colon == 0) fail_set(text);
    auto& values = set[text.substr(0, colon)];
    for (std::size_t start = colon; start != std::string::npos;) {
      const std::size_t end = text.find(',', ++start);
      const std::string part = text.substr(start, end - start);
      const std::size_t equals = part.find('=');
      if (equals == std::string::npos || equals == 0) fail_set(text);
      std::int64_t value = 0;
      const char* const last = part.data() + part.size();
      const auto [rest, problem] = std::from_chars(part.data() + equals + 1, last, value);
      if (problem != std::errc() || rest != last) fail_set(text);
      if (!values.emplace(part.substr(0, equals), value).second) {
        throw UsageError(fmt::format("--set {}: {} is given twice", text, part.substr(0, equals)));
      }
      start = end;
    }
  }
  return set;
}

std::int64_t parse_bytes(const std::string& what, const std::string& text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, number);
  const std::string unit(rest, end);
  constexpr std::array<const char*, 4> kUnits{"", "KiB", "MiB", "GiB"};
  const auto known = std::find(kUnits.begin(), kUnits.end(), unit);
  const auto power = known - kUnits.begin();
  constexpr std::int64_t kMost = std::int64_t{1} << 32;
  if (problem != std::errc() || number < 0 || number > kMost || known == kUnits.end()) {
    throw UsageError(
        fmt::format("{} {}: expected a number of bytes, such as 8MiB or 512KiB", what, text));
  }
  return number << (10 * power);
}

double parse_duration_ms(const std::string& text) {
  static const std::map<std::string, double, std::less<>> kUnits{
      {"us", 1e-3}, {"ms", 1.0}, {"s", 1e3}, {"m", 6e4}, {"h", 3.6e6}};
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, value);
  const auto unit = kUnits.find(std::string_view(rest, static_cast<std::size_t>(end - rest)));
  if (problem != std::errc() || unit == kUnits.end() || !std::isfinite(value) || value < 0.0) {
    throw UsageError(fmt::format(
        "'{}' is no time: expected a number and us, ms, s, m or h, such as 200ms", text));
  }
  // Clocks count in 64 bits; who wants to wait longer has mistyped.
  constexpr double kMostMs = 1e10;
  if (value * unit->second > kMostMs) {
    throw UsageError(fmt::format("'{}' is too long a time: at most {:.0f}s", text, kMostMs / 1e3));
  }
  return value * unit->second;
}

Shape parse_shape(const std::string& text) { return parse_extents("--shape", text, "1x3x224x224"); }

std::vector<std::int64_t> parse_extents(const std::string& what, const std::string& text,
                                        const std::string& example) {
  std::vector<std::int64_t> shape;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::int64_t extent = 0;
    const auto [rest, problem] = std::from_chars(at, end, extent);
    if (problem != std::errc() || extent < 0 || (rest != end && *rest != 'x')) {
      throw UsageError(
          fmt::format("{} {}: expected extents joined by x, such as {}", what, text, example));
    }
    shape.push_back(extent);
    if (rest == end) return shape;
    at = rest + 1;
  }
}

}  // namespace morton::cli
