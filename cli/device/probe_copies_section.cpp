// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "device/probe_names.hpp"
#include "device/probe_section.hpp"

namespace morton::cli {
namespace {

using CopyWay = MeasuredCopy::Way;
constexpr CopyWay kCopyWays[] = {CopyWay::to_device, CopyWay::from_device, CopyWay::by_driver,
                                 CopyWay::by_kernel};

const char* way_name(CopyWay way) {
  switch (way) {
    case CopyWay::to_device:
      return "to device";
    case CopyWay::from_device:
      return "from device";
    case CopyWay::by_driver:
      return "within, by the driver";
    case CopyWay::by_kernel:
      break;
  }
  return "within, by a kernel";
}

/// A row for each size; a kernel's may be rounded, and stands beside the size nearest to it.
Table copies_table(const std::vector<MeasuredCopy>& copies) {
  Table table;
  table.columns = {{"copies, GiB/s", Table::Align::right}};
  for (const CopyWay way : kCopyWays) {
    table.columns.push_back({way_name(way), Table::Align::right});
  }
  for (const MeasuredCopy& copy : copies) {
    if (copy.way == CopyWay::to_device) {
      table.rows.push_back({bytes_text(copy.bytes), "", "", "", ""});
    }
    table.rows.back()[static_cast<std::size_t>(copy.way) + 1] =
        measured_text(copy.gibibytes_per_second);
  }
  return table;
}

Json copies_json(const std::vector<MeasuredCopy>& copies) {
  Json list = Json::array();
  for (const MeasuredCopy& copy : copies) {
    list.push_back({{"way", way_name(copy.way)}, {"bytes", copy.bytes}});
    put(list.back(), "gibibytes_per_second", copy.gibibytes_per_second);
  }
  return list;
}

Json copies_records(const std::vector<MeasuredCopy>& copies) {
  Json list = Json::array();
  for (const MeasuredCopy& copy : copies) {
    add(list, {"copy", way_name(copy.way), copy.bytes, "GiB/s", copy.gibibytes_per_second});
  }
  return list;
}

std::vector<pages::Figure> copies_figures(const std::vector<MeasuredCopy>& copies) {
  pages::LineChart chart;
  chart.x = {"bytes", pages::Axis::Scale::log, pages::Axis::Unit::bytes};
  chart.y = {"GiB/s", pages::Axis::Scale::log};
  for (const CopyWay way : kCopyWays) {
    pages::LineChart::Series line{way_name(way), {}};
    for (const MeasuredCopy& copy : copies) {
      if (copy.way != way) continue;
      line.points.push_back({static_cast<double>(copy.bytes), copy.gibibytes_per_second.median});
    }
    chart.series.push_back(std::move(line));
  }
  return {{"Copies between the host and the device, and within it", draw(chart),
           "Small copies are paid by the call, large ones by the byte.",
           fmt::format("{} curves.", chart.series.size())}};
}

}  // namespace

ProbeSection section_of(const std::vector<MeasuredCopy>& copies, Format format) {
  const std::string text =
      "copies back to back; each byte is counted once\n\n" + to_text(copies_table(copies), format) +
      "A kernel's copies go by the device's clock, all others by the host's.\n";
  return {text, copies_json(copies), copies_records(copies), copies_figures(copies)};
}

}  // namespace morton::cli
