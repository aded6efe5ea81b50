// SPDX-License-Identifier: Apache-2.0
//
// What options amount to: devices, compile options, numbers with units. options.cpp declares them.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <system_error>

#include "common/conv_path.hpp"
#include "common/log.hpp"
#include "common/machine.hpp"
#include "common/option_names.hpp"
#include "common/options.hpp"
#include "common/terminal.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

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

[[noreturn]] void fail_set(const std::string& text) {
  throw UsageError(
      fmt::format("--set {}: expected KERNEL:TUNABLE=VALUE,..., such as gemm.tile:TILE_M=8", text));
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

}  // namespace

DeviceConfig device_config(const DeviceOptions& options) {
  DeviceConfig config;
  config.cache_dir = options.cache_dir;
  if (!options.cache_limit.empty()) {
    config.cache_limit_bytes = parse_bytes("--cache-limit", options.cache_limit);
  }
  return config;
}

void require_one_device(const DeviceOptions& options) {
  const bool has_several = options.selector.find(',') != std::string::npos;
  if (options.weights.empty() && !has_several) return;
  throw UsageError(fmt::format(
      "{}: this command takes one device; `morton run`, `eval`, `plan` and `bench MODEL` "
      "share a batch among several",
      has_several ? "--device " + options.selector : "--weights " + options.weights));
}

Device open_device(const DeviceOptions& options) {
  require_one_device(options);
  return open_device(options.selector, options);
}

Device open_device(const std::string& selector, const DeviceOptions& options) {
  prepare_drivers();
  Device device = Device::open(selector, device_config(options));
  for (const Message& note : device.notes()) log::warn("{}", with_options(note));
  return device;
}

std::vector<std::string> selectors_of(const DeviceOptions& options) {
  std::vector<std::string> selectors = split_at_commas(options.selector);
  const bool has_empty =
      std::ranges::any_of(selectors, [](const std::string& name) { return name.empty(); });
  if (has_empty && selectors.size() > 1) {
    throw UsageError(fmt::format("--device {}: a name between commas is empty", options.selector));
  }
  return selectors;
}

std::vector<Device> open_devices(const DeviceOptions& options) {
  std::vector<Device> devices;
  for (const std::string& selector : selectors_of(options)) {
    devices.push_back(open_device(selector, options));
  }
  return devices;
}

std::vector<double> weights_of(const DeviceOptions& options) {
  std::vector<double> weights;
  if (options.weights.empty()) return weights;
  if (selectors_of(options).size() == 1) {
    throw UsageError(
        fmt::format("--weights {}: there is one device, which gets the whole batch; name several "
                    "with --device, such as 0:0,0:1",
                    options.weights));
  }
  const char* at = options.weights.data();
  const char* const end = at + options.weights.size();
  while (true) {
    double weight = 0.0;
    const auto [rest, problem] = std::from_chars(at, end, weight);
    if (problem != std::errc() || (rest != end && *rest != ':')) {
      throw UsageError(fmt::format("--weights {}: expected a number for each device, such as 2:1",
                                   options.weights));
    }
    weights.push_back(weight);
    if (rest == end) return weights;
    at = rest + 1;
  }
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

CompileOptions compile_options(const ModelOptions& options) {
  CompileOptions result = compile_options(options.kernels);
  result.batch = options.batch;
  result.shapes = parse_shapes(options.shapes);
  if (!options.workspace_limit.empty()) {
    result.workspace_limit_bytes = parse_bytes("--workspace-limit", options.workspace_limit);
  }
  const bool limited = !options.workspace_limit.empty();
  apply(find_conv_path(options.conv), limited ? Limit::given : Limit::open, result);
  // A command has the shapes that it is given: kernels for more would be built for nothing.
  if (options.also.empty()) result.other_shapes = CompileOptions::OtherShapes::leave;
  for (const std::string& text : options.also) {
    result.also.push_back({0, parse_shapes(split_at_commas(text))});
  }
  if (options.self_test == "on") result.self_test = CompileOptions::SelfTest::once;
  result.start = options.start;
  if (options.strict) result.fallback = CompileOptions::Fallback::refuse;
  return result;
}

std::string precision_text(const KernelOptions& options) {
  return options.precision + (options.sums == "f32" ? "" : ", sums in " + options.sums);
}

CompileOptions compile_options(const KernelOptions& options) {
  CompileOptions result;
  // What takes kernels alone compares their results itself.
  result.self_test = CompileOptions::SelfTest::off;
  result.exclude = options.exclude;
  result.precision = {parse_dtype(options.precision), parse_dtype(options.sums)};
  if (!options.local.empty()) result.local = parse_extents("--local", options.local, "4x16");
  result.tunables = parse_set(options.set);
  result.tuning_files = options.tuning;
  if (std::erase(result.tuning_files, "none") > 0) {
    if (!result.tuning_files.empty()) throw UsageError("--tuning none: files are given too");
    result.tuning = CompileOptions::Tuning::ignore;
  }
  result.use = parse_use(options.use);
  result.catalogue_files = options.catalogue_files;
  result.log = [](const Message& line) { log::debug("{}", with_options(line)); };
  return result;
}

CompiledModel compile_model(const Model& model, const Device& device,
                            const CompileOptions& options) {
  return compile_model(model, std::vector{device}, options);
}

CompiledModel compile_model(const Model& model, const std::vector<Device>& devices,
                            const CompileOptions& given) {
  CompileOptions options = given;
  std::optional<Progress> progress("building kernels");
  options.progress = [&progress](double done) { progress->update(done); };
  CompiledModel compiled = compile(model, devices, options);
  progress.reset();
  const CompileReport& report = compiled.report();
  for (const DeviceShare& share : report.shares) {
    log::info("device {}: {} rows of the batch (weight {:.6g}, {})", share.device, share.rows,
              share.weight, report.weights_source);
  }
  for (const Message& note : report.notes) log::warn("{}", with_options(note));
  return compiled;
}

std::string kernels_line(const CompileReport& report) {
  return fmt::format("kernels: {} from cache, {} built",
                     report.kernels.from_memory + report.kernels.from_disk, report.kernels.built);
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
