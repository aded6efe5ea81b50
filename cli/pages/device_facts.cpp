// SPDX-License-Identifier: Apache-2.0
#include "pages/device_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace morton::cli::pages {

void add_device_facts(Page& page, const std::string& device_json) {
  const Json facts = Json::parse(device_json);
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) page.facts.emplace_back(name, text);
  };
  const auto text = [&](const char* key) { return facts.value(key, std::string()); };
  const auto number = [&](const char* key) { return facts.value(key, std::int64_t{0}); };
  const auto bytes = [&](const char* name, const char* key) {
    if (number(key) > 0) add(name, bytes_text(number(key)));
  };
  add("device", fmt::format("{} ({})", text("name"), text("kind")));
  add("platform", text("platform"));
  add("driver", text("driver_version"));
  add("compute units", std::to_string(number("compute_units")));
  if (number("clock_mhz") > 0) add("clock", fmt::format("{} MHz", number("clock_mhz")));
  bytes("device memory", "global_memory_bytes");
  bytes("local memory", "local_memory_bytes");
  bytes("first cache", "l1_bytes");
  bytes("second cache", "l2_bytes");
  add("memory is shared with the host", facts.value("unified_memory", false) ? "yes" : "no");
}

void add_peaks(Page& page, const RooflinePeaks& peaks) {
  page.facts.emplace_back("peak of arithmetic in f32",
                          fmt::format("{:.1f} GFLOP/s", peaks.gflops_f32));
  page.facts.emplace_back("peak of memory", fmt::format("{:.1f} GB/s", peaks.gigabytes_per_second));
  page.facts.emplace_back("a launch", fmt::format("{:.2f} us", peaks.launch_us));
  page.facts.emplace_back("peaks are", peaks.source);
}

Roofline roofline_of(const RooflinePeaks& peaks) {
  Roofline roofline;
  roofline.arithmetic = {{fmt::format("f32: {:.1f} GFLOP/s", peaks.gflops_f32), peaks.gflops_f32}};
  roofline.memory = {
      {fmt::format("memory: {:.1f} GB/s", peaks.gigabytes_per_second), peaks.gigabytes_per_second}};
  if (peaks.bandwidth.empty()) return roofline;
  const auto fastest = std::ranges::max_element(peaks.bandwidth, std::ranges::less(),
                                                &FootprintBandwidth::gigabytes_per_second);
  if (fastest->gigabytes_per_second > 1.05 * peaks.gigabytes_per_second) {
    roofline.memory.push_back(
        {fmt::format("cache, {}: {:.1f} GB/s", bytes_text(fastest->footprint_bytes),
                     fastest->gigabytes_per_second),
         fastest->gigabytes_per_second});
  }
  return roofline;
}

}  // namespace morton::cli::pages
