// SPDX-License-Identifier: Apache-2.0
#include "common/device_description.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/log.hpp"
#include "common/output.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

/// The one object of `devices` that `id` names; `id` may be empty when there is only one.
Json select_device(const Json& devices, const std::string& id, const std::string& path) {
  std::string known;
  for (const Json& device : devices) {
    if (!device.is_object()) throw ModelError(fmt::format("{}: holds no device", path));
    const std::string own = device.value("id", "");
    if (own == id || (id.empty() && devices.size() == 1)) return device;
    known += fmt::format("\n{}  {}", own, device.value("name", ""));
  }
  if (devices.empty()) throw ModelError(fmt::format("{}: lists no device", path));
  throw UsageError(id.empty()
                       ? fmt::format("{}: name one of its devices with --device:{}", path, known)
                       : fmt::format("{}: has no device '{}'; it has:{}", path, id, known));
}

/// What is wrong with a JSON text, without the library's tag "[json.exception...] ".
std::string untagged(const std::string& text) {
  const std::size_t tag_end = text.starts_with('[') ? text.find("] ") : std::string::npos;
  return tag_end == std::string::npos ? text : text.substr(tag_end + 2);
}

/// The description of one device in a file that `morton devices --format json` wrote, or that holds
/// a single object.
std::string device_json_from(const std::string& path, const std::string& id) {
  const std::string text = read_text(path);
  Json value;
  try {
    value = Json::parse(text);
    value = select_device(value.is_array() ? value : Json::array({value}), id, path);
  } catch (const Json::exception& problem) {
    throw ModelError(
        fmt::format("{}: is no description of a device as `morton devices --format json` writes "
                    "it: {}",
                    path, untagged(problem.what())));
  }
  return value.dump(2, ' ', false, Json::error_handler_t::replace);
}

/// What pretends to be a board's driver states units that no device has, and plans count them.
void warn_of_shim(const std::string& description) {
  constexpr std::int64_t kMostUnits = 4096;
  const Json device = Json::parse(description);
  const auto units = device.value("compute_units", std::int64_t{0});
  if (units <= kMostUnits) return;
  log::warn(
      "{} states {} compute units, which no device has, and plans count them; --device-info FILE "
      "describes the board (data/boards has some)",
      device.value("name", "the device"), units);
}

}  // namespace

void add_device_info(CLI::App& command, std::string& path) {
  command.add_option("--device-info", path, "Plan for the device that FILE describes")
      ->option_text("FILE");
}

std::string device_description(const std::string& selector, const std::string& path,
                               const DeviceOptions& options) {
  if (!path.empty()) return device_json_from(path, selector);
  std::string json = open_device(selector, options).json();
  warn_of_shim(json);
  return json;
}

}  // namespace morton::cli
