// SPDX-License-Identifier: Apache-2.0
//
// What options amount to: devices and compile options. options.cpp declares them.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
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
  if (!options.memory_limit.empty()) {
    set_memory_limit(parse_bytes("--memory-limit", options.memory_limit));
  }
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

CompileOptions compile_options(const ModelOptions& options) {
  CompileOptions result = compile_options(options.kernels);
  result.batch = options.batch;
  result.shapes = parse_shapes(options.shapes);
  if (!options.workspace_limit.empty()) {
    result.limits.workspace_bytes = parse_bytes("--workspace-limit", options.workspace_limit);
  }
  if (!options.weight_limit.empty()) {
    result.limits.weight_bytes = parse_bytes("--weight-limit", options.weight_limit);
  }
  result.limits.kernel_ms = options.max_kernel_ms;
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

}  // namespace morton::cli
