// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the sections of several probes have.
#include <string>
#include <vector>

#include "pages/charts.hpp"

namespace morton::cli {

/// Bars of rates in this unit, with the figure behind each.
[[nodiscard]] pages::BarChart rates_chart(const std::string& unit);
void add_rate(const std::string& name, double rate, pages::BarChart& chart);

/// A line for each.
[[nodiscard]] std::string notes_text(const std::vector<std::string>& notes);

}  // namespace morton::cli
