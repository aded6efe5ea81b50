// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "pages/charts.hpp"

namespace morton::cli::pages {
namespace {

double greatest(const std::vector<Roofline::Roof>& roofs) {
  double most = 0.0;
  for (const Roofline::Roof& roof : roofs) most = std::max(most, roof.value);
  return most;
}

/// The intensities that the picture shows: those of kernels, and both sides of the ridges.
std::pair<double, double> intensities_of(const Roofline& roofline) {
  double low = 0.25;
  double high = 4.0;
  const auto see = [&](double intensity) {
    if (!(intensity > 0.0)) return;
    low = std::min(low, intensity / 1.5);
    high = std::max(high, intensity * 1.5);
  };
  for (const LineChart::Series& series : roofline.kernels) {
    for (const LineChart::Point& point : series.points) see(point.x);
  }
  for (const Roofline::Roof& memory : roofline.memory) {
    if (memory.value > 0.0) see(2.0 * greatest(roofline.arithmetic) / memory.value);
  }
  return {low, high};
}

}  // namespace

Drawing draw(const Roofline& roofline) {
  const auto [low, high] = intensities_of(roofline);
  const double top = greatest(roofline.arithmetic);
  const double steepest = greatest(roofline.memory);
  LineChart chart;
  chart.x = {"operations a byte", Axis::Scale::log};
  chart.y = {roofline.y_label, Axis::Scale::log};
  chart.x.low = low;
  chart.x.high = high;
  chart.series = roofline.kernels;
  for (const Roofline::Roof& roof : roofline.arithmetic) {
    if (!(roof.value > 0.0)) continue;
    const double from = steepest > 0.0 ? std::max(low, roof.value / steepest) : low;
    chart.series.push_back({roof.name,
                            {{from, roof.value, roof.name, {}}, {high, roof.value, roof.name, {}}},
                            LineChart::Style::curve});
  }
  for (const Roofline::Roof& roof : roofline.memory) {
    if (!(roof.value > 0.0)) continue;
    const double to = top > 0.0 ? std::min(high, top / roof.value) : high;
    chart.series.push_back(
        {roof.name,
         {{low, low * roof.value, roof.name, {}}, {to, to * roof.value, roof.name, {}}},
         LineChart::Style::curve});
  }
  return draw(chart);
}

}  // namespace morton::cli::pages
