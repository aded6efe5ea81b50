// SPDX-License-Identifier: Apache-2.0
#include "morton/device.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "api/cache/cache_folder.hpp"
#include "api/inside.hpp"
#include "base/environment_variables.hpp"
#include "device/open/kept_peaks.hpp"
#include "device/open/memory_budget.hpp"
#include "device/open/opencl_device.hpp"
#include "morton/interop.hpp"

namespace morton {
using namespace api;

namespace {

DeviceOptions device_options(const DeviceConfig& config) {
  if (config.cache_limit_bytes < 0) {
    throw UsageError("cache_limit_bytes is " + std::to_string(config.cache_limit_bytes) +
                     ": expected 0 or more");
  }
  UsableCache cache = usable_cache(cache_folder_of(config));
  return {std::move(cache.folder), config.cache_limit_bytes, std::move(cache.problem)};
}

}  // namespace

Device::Device(std::shared_ptr<OpenClDevice> device) : device_(std::move(device)) {}

Device Device::open(const std::string& selector, const DeviceConfig& config) {
  if (!selector.empty()) return Device(OpenClDevice::open(selector, device_options(config)));
  const auto named = environment_variable("MORTON_DEVICE");
  try {
    return Device(OpenClDevice::open(named.value_or("auto"), device_options(config)));
  } catch (const UsageError& error) {
    if (!named) throw;
    throw UsageError("MORTON_DEVICE=" + *named + ": " + error.message());
  }
}

std::vector<std::string> Device::list_json(const DeviceConfig& config,
                                           std::vector<Message>* notes) {
  std::vector<std::string> texts;
  const UsableCache cache = usable_cache(cache_folder_of(config));
  if (!cache.problem.empty() && notes != nullptr) notes->push_back(cache.problem);
  for (DeviceInfo& info : OpenClDevice::list()) {
    const KeptPeaks kept = read_kept_peaks(cache.folder, info);
    if (kept.peaks) info.peaks = *kept.peaks;
    if (!kept.problem.empty() && notes != nullptr) notes->push_back(kept.problem);
    texts.push_back(to_json(info).dump());
  }
  return texts;
}

std::string Device::id() const { return device_->info().id; }

std::string Device::name() const { return device_->info().name; }

std::string Device::description() const {
  const DeviceInfo& info = device_->info();
  return info.id + " " + info.name + " (" + info.driver.platform + ", driver " +
         info.driver.version + ", " + std::to_string(info.compute.units) + " compute units)";
}

std::string Device::json() const { return to_json(device_->info()).dump(); }

const RooflinePeaks& Device::peaks() const { return device_->info().peaks; }

const std::vector<Message>& Device::notes() const { return device_->notes(); }

std::int64_t Device::used_bytes() const { return device_->memory().used_bytes(); }

std::int64_t Device::peak_bytes() const { return device_->memory().peak_bytes(); }

int Device::program_builds() const { return device_->programs().builds(); }

Device adopt_device(cl_context context, cl_device_id device, const DeviceConfig& config) {
  if (context == nullptr || device == nullptr) {
    throw UsageError("adopted device: the context and the device must not be null");
  }
  DeviceInfo unknown;
  unknown.name = "an adopted device";
  std::shared_ptr<OpenClDevice> adopted;
  with_device_errors("adopted device", unknown, [&] {
    // `true` retains what the caller keeps owning.
    adopted = OpenClDevice::adopt(cl::Context(context, true), cl::Device(device, true),
                                  device_options(config));
  });
  return Inside::make(std::move(adopted));
}

cl_context context_of(const Device& device) { return Inside::of(device)->context()(); }

cl_device_id device_of(const Device& device) { return Inside::of(device)->device()(); }

void set_memory_limit(std::int64_t bytes) { device::set_memory_limit(bytes); }

}  // namespace morton
