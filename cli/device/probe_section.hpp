// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/output.hpp"
#include "device/probe_parts.hpp"
#include "morton/tools/named_probes.hpp"
#include "pages/charts.hpp"
#include "pages/page.hpp"

namespace morton::cli {

/// What one probe found, ready to be printed.
struct ProbeSection {
  std::string text;  ///< tables for people
  Json json;         ///< for programs
  Json records;      ///< for csv; of the form of ProbeRecord
  std::vector<pages::Figure> figures{};
  std::vector<pages::Section> page{};  ///< empty: the figures and the text
};

[[nodiscard]] ProbeSection section_of(const WorkGroupOrder& order, Format format);
[[nodiscard]] ProbeSection section_of(const LatencyCurves& curves, Format format);
[[nodiscard]] ProbeSection section_of(const IntensityCurves& curves, Format format);
[[nodiscard]] ProbeSection section_of(const std::vector<MeasuredCopy>& copies, Format format);
[[nodiscard]] ProbeSection section_of(const std::vector<MeasuredGroups>& kernels, Format format);
[[nodiscard]] ProbeSection section_of(const ImageReads& reads, Format format);

}  // namespace morton::cli
