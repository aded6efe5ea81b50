// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "device/probe_names.hpp"
#include "device/probe_section.hpp"

namespace morton::cli {
namespace {

using Where = LatencyPoint::Where;

const char* where_name(Where where) { return where == Where::device ? "device" : "host"; }

std::vector<std::int64_t> strides_of(const LatencyCurves& curves) {
  std::vector<std::int64_t> strides;
  for (const LatencyPoint& point : curves.points) {
    if (std::ranges::find(strides, point.stride_bytes) == strides.end()) {
      strides.push_back(point.stride_bytes);
    }
  }
  return strides;
}

/// A row for each footprint, a column for each stride.
Table latency_table(const LatencyCurves& curves, Where where) {
  using enum Table::Align;
  const std::vector<std::int64_t> strides = strides_of(curves);
  Table table;
  table.columns = {{fmt::format("{}, ns a load", where_name(where)), right}};
  for (const std::int64_t stride : strides) {
    table.columns.push_back({fmt::format("stride {} B", stride), right});
  }
  for (const LatencyPoint& point : curves.points) {
    if (point.where != where) continue;
    const std::string footprint = bytes_text(point.footprint_bytes);
    const auto row = std::ranges::find_if(
        table.rows, [&](const std::vector<std::string>& cells) { return cells[0] == footprint; });
    const std::string cell = fmt::format("{:.2f}", point.ns.median);
    if (row == table.rows.end()) {
      table.rows.push_back({footprint, cell});
    } else {
      row->push_back(cell);
    }
  }
  return table;
}

std::string plateaus_text(const LatencyCurves& curves) {
  std::string text = "Plateaus of stride 64 B, as caches make them:\n";
  for (const LatencyPlateau& plateau : curves.plateaus) {
    text += fmt::format("  {}: {:.2f} ns from {} to {}\n", where_name(plateau.where), plateau.ns,
                        bytes_text(plateau.least_bytes), bytes_text(plateau.most_bytes));
  }
  return curves.plateaus.empty() ? "No plateaus of stride 64 B were seen.\n" : text;
}

Json latency_json(const LatencyCurves& curves) {
  Json points = Json::array();
  for (const LatencyPoint& point : curves.points) {
    points.push_back({{"where", where_name(point.where)},
                      {"stride_bytes", point.stride_bytes},
                      {"footprint_bytes", point.footprint_bytes}});
    put(points.back(), "ns", point.ns);
  }
  Json plateaus = Json::array();
  for (const LatencyPlateau& plateau : curves.plateaus) {
    plateaus.push_back({{"where", where_name(plateau.where)},
                        {"least_bytes", plateau.least_bytes},
                        {"most_bytes", plateau.most_bytes},
                        {"ns", plateau.ns}});
  }
  return {{"points", points}, {"plateaus", plateaus}, {"notes", curves.notes}};
}

Json latency_records(const LatencyCurves& curves) {
  Json list = Json::array();
  for (const LatencyPoint& point : curves.points) {
    add(list, {"latency", fmt::format("{} stride {}", where_name(point.where), point.stride_bytes),
               point.footprint_bytes, "ns", point.ns});
  }
  return list;
}

std::vector<pages::Figure> latency_figures(const LatencyCurves& curves) {
  std::vector<pages::Figure> figures;
  for (const Where where : {Where::device, Where::host}) {
    pages::LineChart chart;
    chart.x = {"footprint", pages::Axis::Scale::log, pages::Axis::Unit::bytes};
    chart.y = {"ns a load", pages::Axis::Scale::log};
    for (const std::int64_t stride : strides_of(curves)) {
      pages::LineChart::Series line{fmt::format("stride {} B", stride), {}};
      for (const LatencyPoint& point : curves.points) {
        if (point.where != where || point.stride_bytes != stride) continue;
        line.points.push_back({static_cast<double>(point.footprint_bytes), point.ns.median});
      }
      chart.series.push_back(std::move(line));
    }
    figures.push_back({fmt::format("Latency of dependent loads on the {}", where_name(where)),
                       draw(chart), "A step upwards is the end of a cache.",
                       fmt::format("{} curves, one for each stride.", chart.series.size())});
  }
  return figures;
}

}  // namespace

ProbeSection section_of(const LatencyCurves& curves, Format format) {
  const std::string text =
      "latency of loads that wait for each other, in a random order over the footprint\n\n" +
      to_text(latency_table(curves, Where::device), format) + "\n" +
      to_text(latency_table(curves, Where::host), format) + "\n" + plateaus_text(curves) +
      notes_text(curves.notes);
  return {text, latency_json(curves), latency_records(curves), latency_figures(curves)};
}

}  // namespace morton::cli
