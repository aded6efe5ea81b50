// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "morton/roofline_peaks.hpp"
#include "pages/charts.hpp"
#include "pages/page.hpp"

namespace morton::cli::pages {

/// What readers want to know of a device, from its JSON (Device::json).
void add_device_facts(Page& page, const std::string& device_json);

/// What it can do at most.
void add_peaks(Page& page, const RooflinePeaks& peaks);

/// Roofs for arithmetic and memory, without kernels.
[[nodiscard]] Roofline roofline_of(const RooflinePeaks& peaks);

}  // namespace morton::cli::pages
