// SPDX-License-Identifier: Apache-2.0
#include "device/probe_names.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace morton::cli {

const char* name_of(MeasuredMemory::Access access) {
  using Access = MeasuredMemory::Access;
  return access == Access::read    ? "read"
         : access == Access::write ? "write"
         : access == Access::copy  ? "copy"
                                   : "image read";
}

const char* name_of(MeasuredTransfer::Direction direction) {
  return direction == MeasuredTransfer::Direction::to_device ? "to device" : "from device";
}

const char* name_of(MeasuredTransfer::Way way) {
  using Way = MeasuredTransfer::Way;
  return way == Way::pageable ? "pageable" : way == Way::pinned ? "pinned" : "mapped";
}

const char* name_of(ProbeOptions::Effort effort) {
  return effort == ProbeOptions::Effort::full ? "full" : "quick";
}

std::string measured_text(const Measured& measured, int decimals) {
  return fmt::format("{:.{}f} ({:.{}f})", measured.median, decimals, measured.best, decimals);
}

double gflops_of(const MeasuredHostProduct& product) {
  const auto size = static_cast<double>(product.size);
  return 2.0 * size * size * size / (product.us.median * 1e3);
}

void put(Json& json, const std::string& unit, const Measured& measured) {
  json["median_" + unit] = measured.median;
  json["best_" + unit] = measured.best;
  json["samples"] = measured.samples;
}

void add(Json& list, const ProbeRecord& record) {
  list.push_back({{"what", record.what},
                  {"how", record.how},
                  {"size", record.size},
                  {"unit", record.unit},
                  {"median", record.measured.median},
                  {"best", record.measured.best},
                  {"samples", record.measured.samples}});
}

}  // namespace morton::cli
