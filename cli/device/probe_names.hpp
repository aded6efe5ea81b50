// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/output.hpp"
#include "morton/tools/probe.hpp"

namespace morton::cli {

/// Words for what was measured: "read", "to device", "pageable", "full".
[[nodiscard]] const char* name_of(MeasuredMemory::Access access);
[[nodiscard]] const char* name_of(MeasuredTransfer::Direction direction);
[[nodiscard]] const char* name_of(MeasuredTransfer::Way way);
[[nodiscard]] const char* name_of(ProbeOptions::Effort effort);

/// "28.13 (29.40)"
[[nodiscard]] std::string measured_text(const Measured& measured, int decimals = 2);
[[nodiscard]] double gflops_of(const MeasuredHostProduct& product);

/// Keys with the unit in them: "median_gflops".
void put(Json& json, const std::string& unit, const Measured& measured);

/// A record of a csv file; all probes have records of the same form.
struct ProbeRecord {
  std::string what, how;
  std::int64_t size = 0;
  std::string unit;
  Measured measured;
};
void add(Json& list, const ProbeRecord& record);

}  // namespace morton::cli
