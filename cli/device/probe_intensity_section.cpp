// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "device/probe_names.hpp"
#include "device/probe_section.hpp"

namespace morton::cli {
namespace {

Table intensity_table(const IntensityCurves& curves) {
  using enum Table::Align;
  Table table;
  table.columns = {{"type"},
                   {"multiply-adds an element", right},
                   {"operations a byte", right},
                   {"GFLOP/s", right},
                   {"GB/s, median (best)", right}};
  for (const IntensityPoint& point : curves.points) {
    table.rows.push_back({point.type, std::to_string(point.multiply_adds),
                          fmt::format("{:g}", point.operations_per_byte()),
                          fmt::format("{:.1f}", point.gflops()),
                          measured_text(point.gigabytes_per_second)});
  }
  return table;
}

Json intensity_json(const IntensityCurves& curves) {
  Json points = Json::array();
  for (const IntensityPoint& point : curves.points) {
    points.push_back({{"type", point.type},
                      {"element_bytes", point.element_bytes},
                      {"multiply_adds", point.multiply_adds},
                      {"operations_per_byte", point.operations_per_byte()},
                      {"bytes", point.bytes},
                      {"gflops", point.gflops()}});
    put(points.back(), "gigabytes_per_second", point.gigabytes_per_second);
  }
  return {{"points", points}, {"notes", curves.notes}};
}

Json intensity_records(const IntensityCurves& curves) {
  Json list = Json::array();
  for (const IntensityPoint& point : curves.points) {
    add(list, {"intensity", fmt::format("{} {} multiply-adds", point.type, point.multiply_adds),
               point.bytes, "GB/s", point.gigabytes_per_second});
  }
  return list;
}

/// The best rate and the best throughput of f32 bound all of it.
pages::LineChart::Series roof_of(const IntensityCurves& curves) {
  double rate = 0.0;
  double throughput = 0.0;
  double most = 0.0;
  double least = 0.0;
  for (const IntensityPoint& point : curves.points) {
    if (point.type != "f32") continue;
    const double intensity = point.operations_per_byte();
    rate = std::max(rate, point.gigabytes_per_second.best);
    throughput = std::max(throughput, point.gigabytes_per_second.best * intensity);
    most = std::max(most, intensity);
    if (least == 0.0) least = intensity;
  }
  const double ridge = std::max(least, throughput / rate);
  return {"roof of f32, best samples",
          {{least, least * rate, {}, {}}, {ridge, throughput, {}, {}}, {most, throughput, {}, {}}}};
}

std::vector<pages::Figure> intensity_figures(const IntensityCurves& curves) {
  pages::LineChart chart;
  chart.x = {"operations a byte", pages::Axis::Scale::log};
  chart.y = {"GFLOP/s (integers: GOP/s)", pages::Axis::Scale::log};
  for (const IntensityPoint& point : curves.points) {
    if (chart.series.empty() || chart.series.back().name != point.type) {
      chart.series.push_back({point.type, {}});
    }
    chart.series.back().points.push_back({point.operations_per_byte(), point.gflops()});
  }
  chart.series.push_back(roof_of(curves));
  return {{"Throughput over operational intensity", draw(chart),
           "On the slope memory is the limit, on the level part arithmetic.",
           fmt::format("{} curves, one for each type, and the roof.", chart.series.size())}};
}

}  // namespace

ProbeSection section_of(const IntensityCurves& curves, Format format) {
  const std::string text =
      "throughput over operational intensity; each element is loaded once, a multiply-add is two "
      "operations\n\n" +
      to_text(intensity_table(curves), format) + notes_text(curves.notes);
  return {text, intensity_json(curves), intensity_records(curves), intensity_figures(curves)};
}

}  // namespace morton::cli
