// SPDX-License-Identifier: Apache-2.0
#include "device/probe_parts.hpp"

#include <fmt/format.h>

namespace morton::cli {

pages::BarChart rates_chart(const std::string& unit) {
  pages::BarChart chart;
  chart.axis = {unit};
  return chart;
}

void add_rate(const std::string& name, double rate, pages::BarChart& chart) {
  chart.bars.push_back({name, {rate}, fmt::format("{:.3g}", rate)});
}

std::string notes_text(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += "Note: " + note + ".\n";
  return text;
}

}  // namespace morton::cli
