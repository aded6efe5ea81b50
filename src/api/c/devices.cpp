// SPDX-License-Identifier: Apache-2.0
#include "api/c/handles.hpp"
#include "api/c/json_texts.hpp"
#include "api/c/versioned.hpp"

using namespace morton;
using namespace morton::api;

namespace {

morton_device_options usual_device_options() {
  morton_device_options options{};
  options.size = sizeof options;
  options.cache_limit_bytes = DeviceConfig().cache_limit_bytes;
  return options;
}

DeviceConfig device_config(const morton_device_options* from) {
  const auto options = read_versioned(from, usual_device_options(), "device options");
  DeviceConfig config;
  if (options.cache_dir != nullptr) config.cache_dir = options.cache_dir;
  if (flag(options.without_disk_cache, "without_disk_cache")) {
    config.disk_cache = DeviceConfig::DiskCache::none;
  }
  config.cache_limit_bytes = options.cache_limit_bytes;
  return config;
}

}  // namespace

morton_status morton_device_options_init(morton_device_options* options, size_t size) {
  return guarded([&] { write_versioned(options, size, usual_device_options(), "options"); });
}

morton_status morton_devices_json(const morton_device_options* options, char** json) {
  return hand_over(json, "json", [&] {
    std::vector<Message> notes;
    const std::vector<std::string> devices = Device::list_json(device_config(options), &notes);
    return handed_over(devices_json(devices, notes));
  });
}

morton_status morton_device_open(const char* selector, const morton_device_options* options,
                                 morton_device** device) {
  return hand_over(device, "device", [&] {
    const std::string text = selector == nullptr ? "" : selector;
    return new morton_device{Device::open(text, device_config(options))};
  });
}

void morton_device_free(morton_device* device) { delete device; }

morton_status morton_device_json(const morton_device* device, char** json) {
  return hand_over(json, "json", [&] {
    const Device& opened = given(device, "device").device;
    return handed_over(device_json(opened.json(), opened.notes()));
  });
}

morton_status morton_device_description(const morton_device* device, char** text) {
  return hand_over(text, "text",
                   [&] { return handed_over(given(device, "device").device.description()); });
}
