// SPDX-License-Identifier: Apache-2.0
#include "base/device/device_info.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/device/peaks_json.hpp"
#include "base/error.hpp"

namespace morton {
namespace {

constexpr std::int64_t kSchema = 1;
constexpr const char* kFactSources = "fact_sources";

/// Calls visit(key, member) for each field of a peak; `Source` is RooflinePeaks or const
/// RooflinePeaks.
template <typename Source, typename Visit>
void for_each_peak(Source& peaks, const Visit& visit) {
  visit("gflops_f32", peaks.gflops_f32);
  visit("gigabytes_per_second", peaks.gigabytes_per_second);
  visit("launch_us", peaks.launch_us);
  visit("launch_and_wait_us", peaks.launch_and_wait_us);
  visit("bandwidth", peaks.bandwidth);
  visit("source", peaks.source);
  visit("host", peaks.host);
}

/// Calls visit(key, member) for each field but `core` and `peaks`: the one list that the file
/// format, the checks and the names in expressions are made from.
template <typename Source, typename Visit>
void for_each_field(Source& info, const Visit& visit) {
  visit("id", info.id);
  visit("platform", info.driver.platform);
  visit("platform_version", info.driver.platform_version);
  visit("name", info.name);
  visit("vendor", info.vendor);
  visit("driver_version", info.driver.version);
  visit("device_version", info.driver.device_version);
  visit("opencl_c_version", info.driver.opencl_c_version);
  visit("extensions", info.features.extensions);
  visit("profile", info.driver.profile);
  visit("kind", info.kind);
  visit("compute_units", info.compute.units);
  visit("clock_mhz", info.compute.clock_mhz);
  visit("cuda_compute_capability", info.compute.cuda_capability);
  visit("max_work_group_size", info.compute.max_work_group_size);
  visit("max_work_item_sizes", info.compute.max_work_item_sizes);
  visit("global_memory_bytes", info.memory.global_bytes);
  visit("max_allocation_bytes", info.memory.max_allocation_bytes);
  visit("global_cache_bytes", info.memory.cache_bytes);
  visit("cache_line_bytes", info.memory.cache_line_bytes);
  visit("local_memory_bytes", info.memory.local_bytes);
  visit("constant_buffer_bytes", info.memory.constant_buffer_bytes);
  visit("local_memory_is_dedicated", info.memory.local_is_dedicated);
  visit("unified_memory", info.memory.is_unified);
  visit("images", info.image.supported);
  visit("image_from_buffer", info.image.from_buffer);
  visit("image_max_width", info.image.max_width);
  visit("image_max_height", info.image.max_height);
  visit("image_buffer_max_texels", info.image.buffer_max_texels);
  visit("image_pitch_alignment_texels", info.image.pitch_alignment_texels);
  visit("base_address_alignment_bytes", info.memory.base_alignment_bytes);
  visit("preferred_vector_f32", info.compute.preferred_vector_f32);
  visit("native_vector_f32", info.compute.native_vector_f32);
  visit("native_vector_f16", info.compute.native_vector_f16);
  visit("fp16", info.features.fp16);
  visit("fp64", info.features.fp64);
  visit("profiling", info.features.profiling);
  visit("out_of_order", info.features.out_of_order);
  visit("compiler", info.features.compiler);
  visit("timer_resolution_ns", info.features.timer_resolution_ns);
  visit("quirks", info.quirks);
}

struct ToJson {
  Json& json;
  template <typename Value>
  void operator()(const char* key, const Value& value) const {
    json[key] = value;
  }
  void operator()(const char* key, DeviceInfo::Kind kind) const { json[key] = name_of(kind); }
  void operator()(const char* key, const std::vector<FootprintBandwidth>& list) const {
    json[key] = to_json(list);
  }
  void operator()(const char* key, const HostPeaks& host) const { json[key] = to_json(host); }
};

DeviceInfo::Kind kind_from(const JsonReader& reader) {
  const std::string text = reader.text();
  for (const auto kind :
       {DeviceInfo::Kind::cpu, DeviceInfo::Kind::gpu, DeviceInfo::Kind::accelerator}) {
    if (text == name_of(kind)) return kind;
  }
  reader.fail("expected cpu, gpu or accelerator, got '" + text + "'");
}

struct FromJson {
  const JsonReader& reader;
  std::set<std::string, std::less<>>& known;

  /// The member `key`, remembered as known.
  [[nodiscard]] JsonReader take(const char* key) const {
    known.insert(key);
    return reader.at(key);
  }
  void operator()(const char* key, std::string& value) const { value = take(key).text(); }
  void operator()(const char* key, bool& value) const { value = take(key).boolean(); }
  void operator()(const char* key, DeviceInfo::Kind& value) const { value = kind_from(take(key)); }
  void operator()(const char* key, std::vector<std::string>& value) const {
    value = take(key).texts();
  }
  void operator()(const char* key, std::int64_t& value) const {
    const JsonReader member = take(key);
    value = member.integer();
    if (value < 0) member.fail("expected 0 or more, got " + std::to_string(value));
  }
  void operator()(const char* key, double& value) const { value = positive_or_zero(take(key)); }
  void operator()(const char* key, std::vector<FootprintBandwidth>& value) const {
    value = bandwidth_from(take(key));
  }
  /// Missing where the peaks were kept before steps on the host were measured.
  void operator()(const char* key, HostPeaks& value) const {
    if (reader.has(key)) value = host_from(take(key));
  }
  void operator()(const char* key, std::array<std::int64_t, 3>& value) const {
    const JsonReader member = take(key);
    const auto sizes = member.integers();
    if (sizes.size() != value.size()) {
      member.fail("expected 3 sizes, got " + std::to_string(sizes.size()));
    }
    std::copy(sizes.begin(), sizes.end(), value.begin());
  }
  /// Missing in descriptions that are older than these facts, which are guessed then.
  void read_core(CoreFacts& core) const {
    const bool says_from = reader.has(kFactSources);
    const JsonReader* from = nullptr;
    std::optional<JsonReader> sources;
    if (says_from) from = &sources.emplace(take(kFactSources));
    for_each_core_fact(core, [&](const char* key, auto& value) {
      if (reader.has(key)) {
        (*this)(key, value);
        core.sources[key] = "declared";
      }
      if (from != nullptr && from->has(key)) core.sources[key] = from->at(key).text();
    });
    if (from == nullptr) return;
    for (const auto& [key, source] : from->members()) {
      if (!core.sources.contains(key)) from->fail("'" + key + "' is no fact that has a source");
    }
  }
  void require_no_others() const {
    for (const auto& [key, value] : reader.members()) {
      if (!known.contains(key)) reader.fail("unknown key '" + key + "'");
    }
  }
};

/// Fails for values that would make a planner divide by zero or launch nothing.
void require_positive(const JsonReader& reader, const DeviceInfo& info) {
  const std::pair<const char*, std::int64_t> positive[] = {
      {"compute_units", info.compute.units},
      {"max_work_group_size", info.compute.max_work_group_size},
      {"base_address_alignment_bytes", info.memory.base_alignment_bytes},
      {"lanes", info.core.lanes},
      {"vector_registers", info.core.vector_registers},
      {"max_work_item_sizes", *std::min_element(info.compute.max_work_item_sizes.begin(),
                                                info.compute.max_work_item_sizes.end())},
  };
  for (const auto& [key, value] : positive) {
    if (value < 1) reader.at(key).fail("expected 1 or more, got " + std::to_string(value));
  }
}

struct ToEnvironment {
  Environment& environment;
  void set(const std::string& key, std::int64_t value) const {
    environment["device." + key] = value;
  }
  void operator()(const char* key, std::int64_t value) const { set(key, value); }
  void operator()(const char* key, bool value) const { set(key, value ? 1 : 0); }
  void operator()(const char* key, double value) const { set(key, std::llround(value)); }
  void operator()(const char*, const std::string&) const {}
  void operator()(const char*, const std::vector<std::string>&) const {}
  void operator()(const char*, DeviceInfo::Kind kind) const {
    set("is_cpu", kind == DeviceInfo::Kind::cpu ? 1 : 0);
    set("is_gpu", kind == DeviceInfo::Kind::gpu ? 1 : 0);
  }
  void operator()(const char* key, const std::array<std::int64_t, 3>& sizes) const {
    for (std::size_t i = 0; i < sizes.size(); ++i) set(key + std::to_string(i), sizes[i]);
  }
};

}  // namespace

std::string_view name_of(DeviceInfo::Kind kind) {
  switch (kind) {
    case DeviceInfo::Kind::cpu:
      return "cpu";
    case DeviceInfo::Kind::gpu:
      return "gpu";
    case DeviceInfo::Kind::accelerator:
      return "accelerator";
  }
  throw InternalError("device info: no such kind of device: " +
                      std::to_string(static_cast<int>(kind)));
}

Json to_json(const DeviceInfo& info) {
  Json json = Json::object();
  json["schema"] = kSchema;
  for_each_field(info, ToJson{json});
  for_each_core_fact(info.core, ToJson{json});
  json[kFactSources] = info.core.sources;
  json["roofs"] = to_json(info.peaks);
  return json;
}

Json to_json(const RooflinePeaks& peaks) {
  Json json = Json::object();
  for_each_peak(peaks, ToJson{json});
  return json;
}

RooflinePeaks peaks_from_json(const JsonReader& reader) {
  RooflinePeaks peaks;
  std::set<std::string, std::less<>> known;
  const FromJson fields{reader, known};
  for_each_peak(peaks, fields);
  fields.require_no_others();
  return peaks;
}

DeviceInfo device_info_from_json(const JsonReader& reader) {
  DeviceInfo info;
  if (const auto schema = reader.at("schema").integer(); schema != kSchema) {
    reader.at("schema").fail("expected " + std::to_string(kSchema) + ", got " +
                             std::to_string(schema));
  }
  std::set<std::string, std::less<>> known{"schema", "roofs"};
  const FromJson fields{reader, known};
  for_each_field(info, fields);
  info.core = guessed_core(info);
  fields.read_core(info.core);
  fields.require_no_others();
  require_positive(reader, info);
  info.peaks = peaks_from_json(reader.at("roofs"));
  return info;
}

DeviceInfo device_info_from_text(const std::string& text) {
  const Json json = parse_json(text, "device description");
  return device_info_from_json(JsonReader(json, "device description"));
}

Environment environment_of(const DeviceInfo& info) {
  Environment environment;
  for_each_field(info, ToEnvironment{environment});
  for_each_core_fact(info.core, ToEnvironment{environment});
  return environment;
}

std::string fingerprint(const DeviceInfo& info) {
  std::string line;
  for (const auto* part :
       {&info.name, &info.vendor, &info.driver.platform, &info.driver.platform_version,
        &info.driver.version, &info.driver.device_version, &info.driver.opencl_c_version}) {
    line += *part + " | ";
  }
  line += std::to_string(info.compute.units) + " compute units";
  for (char& c : line) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  return line;
}

std::vector<std::string_view> classes_of(const DeviceInfo& info) {
  if (info.kind == DeviceInfo::Kind::cpu) return {"cpu"};
  std::vector<std::string_view> classes;
  if (!info.memory.local_is_dedicated) classes.emplace_back("gpu_without_local_memory");
  if (info.memory.is_unified) classes.emplace_back("low_power_gpu");
  classes.emplace_back("gpu");
  return classes;
}

}  // namespace morton
