// SPDX-License-Identifier: Apache-2.0
//
// Sections of pages about a plan, from its JSON (`plan_json` of morton/compile.hpp).
#pragma once

#include <string>
#include <vector>

#include "common/output.hpp"
#include "pages/page.hpp"

namespace morton::cli::pages {

/// Memory over time, with its blocks.
[[nodiscard]] Section memory_section(const Json& plan);

/// The steps as a graph. `times_us`, one for each step, colours them; `clock` says whose they are:
/// "by the device's clock", "estimated".
[[nodiscard]] Section graph_section(const Json& plan, const std::vector<double>& times_us,
                                    const std::string& clock);

/// Which layouts tensors have, and pictures of those of matrices.
[[nodiscard]] Section layouts_section(const Json& plan);

/// The facts of a plan that every page about one has: devices, peaks, kernels, memory.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> plan_facts(const Json& plan);

}  // namespace morton::cli::pages
