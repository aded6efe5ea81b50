// SPDX-License-Identifier: Apache-2.0
#include "device/open/kept_peaks.hpp"

#include <nlohmann/json.hpp>
#include <system_error>

#include "base/error.hpp"
#include "base/files/emptied_json.hpp"
#include "base/files/trusted.hpp"

namespace morton::device {
namespace {

constexpr std::int64_t kSchema = 1;
constexpr std::int64_t kMaxFileBytes = std::int64_t{1} << 20;

void require_positive(const JsonReader& reader, std::string_view key) {
  if (!(reader.at(key).real() > 0.0)) {
    reader.at(key).fail("expected a measured figure, more than 0");
  }
}

RooflinePeaks parse(const std::string& text, const std::string& where, const DeviceInfo& info) {
  const EmptiedJson json(parse_json(text, where));
  const JsonReader reader(*json, where);
  reader.allow_keys({"schema", "device", "digest", "roofs"});
  if (const auto schema = reader.at("schema").integer(); schema != kSchema) {
    reader.at("schema").fail("expected " + std::to_string(kSchema) + ", got " +
                             std::to_string(schema));
  }
  if (reader.at("digest").text() != digest_of(fingerprint(info))) {
    reader.at("digest").fail("belongs to another device or driver: '" + reader.at("device").text() +
                             "'");
  }
  const JsonReader peaks = reader.at("roofs");
  for (const char* key : {"gflops_f32", "gigabytes_per_second", "launch_us"}) {
    require_positive(peaks, key);
  }
  return peaks_from_json(peaks);
}

}  // namespace

std::filesystem::path path_of_peaks(const std::filesystem::path& folder, const DeviceInfo& info) {
  return folder / "roofs" / (digest_of(fingerprint(info)) + ".json");
}

KeptPeaks read_kept_peaks(const std::filesystem::path& folder, const DeviceInfo& info) {
  if (folder.empty()) return {};
  const std::filesystem::path path = path_of_peaks(folder, info);
  std::error_code status;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, status))) return {};
  Message why;
  for (const auto& place : {path.parent_path(), path}) {
    if (const auto distrust = why_not_trusted(place); distrust && why.empty()) why = *distrust;
  }
  if (why.empty()) {
    try {
      return {parse(read_file(path, kMaxFileBytes), path.string(), info), ""};
    } catch (const Error& error) {
      why = error.message();
    }
  }
  return {std::nullopt, why + "; the peaks of device " + info.id +
                            " are guessed instead: measure them again with " + setting("probe") +
                            ", or remove the file"};
}

std::filesystem::path keep_peaks(const std::filesystem::path& folder, const DeviceInfo& info,
                                 const RooflinePeaks& peaks) {
  if (folder.empty()) {
    throw UsageError(
        "measured peaks: the device was opened without a cache folder, so there is no place to "
        "keep them; open it with one");
  }
  const std::filesystem::path path = path_of_peaks(folder, info);
  const Json json = {{"schema", kSchema},
                     {"device", fingerprint(info)},
                     {"digest", digest_of(fingerprint(info))},
                     {"roofs", to_json(peaks)}};
  write_trusted_file(path, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  return path;
}

}  // namespace morton::device
