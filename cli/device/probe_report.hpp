// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/output.hpp"
#include "morton/tools/probe.hpp"

namespace morton::cli {

/// The peaks that were measured, for people. `kept` is the file in which they are kept; empty where
/// they are not.
[[nodiscard]] std::string peaks_text(const ProbeResult& result, const Device& device,
                                     const std::string& kept, Format format);
/// Likewise for programs.
[[nodiscard]] Json peaks_json(const ProbeResult& result, const Device& device,
                              const std::string& kept);
/// One record for each figure, all of the same form.
[[nodiscard]] Json peaks_records(const ProbeResult& result);
/// Id, name, platform, driver and compute units.
[[nodiscard]] Json device_json(const Device& device);

}  // namespace morton::cli
