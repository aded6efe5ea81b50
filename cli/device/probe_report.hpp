// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/output.hpp"
#include "morton/tools/probe.hpp"

namespace morton::cli {

/// What was measured, for people or for programs; csv has one record for each figure. `kept` is the
/// file in which the peaks are kept; empty where they are not.
[[nodiscard]] std::string report_of(const ProbeResult& result, const Device& device,
                                    const std::string& kept, Format format);

}  // namespace morton::cli
