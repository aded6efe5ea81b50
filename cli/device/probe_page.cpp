// SPDX-License-Identifier: Apache-2.0
#include "device/probe_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "device/probe_names.hpp"
#include "pages/charts.hpp"
#include "pages/command_line.hpp"
#include "pages/device_facts.hpp"

namespace morton::cli {
namespace {

/// Points to curves by name, in the order in which names come first.
class CurvesByName {
 public:
  void add(const std::string& name, double x, double y) {
    const auto [found, is_new] = index_.emplace(name, series_.size());
    if (is_new) series_.push_back({name, {}});
    series_[found->second].points.push_back({x, y, {}, {}});
  }
  [[nodiscard]] std::vector<pages::LineChart::Series> take() { return std::move(series_); }

 private:
  std::map<std::string, std::size_t> index_;
  std::vector<pages::LineChart::Series> series_;
};

pages::LineChart over_bytes(const std::string& x) {
  pages::LineChart chart;
  chart.x = {x, pages::Axis::Scale::log, pages::Axis::Unit::bytes};
  chart.y = {"GB/s"};
  return chart;
}

pages::Section roofs_section(const ProbeResult& result) {
  const RooflinePeaks peaks = peaks_of(result);
  return {
      "Roofline",
      {pages::Paragraph{fmt::format(
           "No kernel does more than the roof. Up to {:.1f} operations on each byte of memory, "
           "memory limits it; beyond that, arithmetic does.",
           peaks.gigabytes_per_second > 0.0 ? peaks.gflops_f32 / peaks.gigabytes_per_second : 0.0)},
       pages::Figure{"What the device does at most", draw(pages::roofline_of(peaks)),
                     fmt::format("Best samples, {}.", peaks.source),
                     fmt::format("Roofs of {:.4g} GFLOP/s and {:.4g} GB/s.", peaks.gflops_f32,
                                 peaks.gigabytes_per_second)}}};
}

pages::Section arithmetic_section(const ProbeResult& result) {
  pages::BarChart chart;
  chart.axis = {"GFLOP/s (i32: operations), median"};
  for (const MeasuredArithmetic& arithmetic : result.arithmetic) {
    chart.bars.push_back(
        {fmt::format("{} {}, vectors of {}", arithmetic.type, arithmetic.operation,
                     arithmetic.width),
         {arithmetic.gflops.median},
         fmt::format("{:.1f}, best {:.1f}", arithmetic.gflops.median, arithmetic.gflops.best)});
  }
  return {
      "Arithmetic",
      {pages::Figure{"Multiply-adds in registers", draw(chart),
                     "Each counts as two operations. Wider vectors help devices whose units are "
                     "vectors.",
                     fmt::format("Bars for {} types and widths.", chart.bars.size())}}};
}

pages::Section bandwidth_section(const ProbeResult& result) {
  CurvesByName curves;
  for (const MeasuredMemory& memory : result.memory) {
    curves.add(name_of(memory.access), static_cast<double>(memory.footprint_bytes),
               memory.gigabytes_per_second.median);
  }
  pages::LineChart chart = over_bytes("footprint");
  chart.series = curves.take();
  return {
      "Memory",
      {pages::Figure{"Bandwidth over footprint", draw(chart),
                     "Kernels go through so much memory again and again. A step down is the end "
                     "of a cache.",
                     fmt::format("{} curves of bandwidth.", chart.series.size())}}};
}

pages::Section transfers_section(const ProbeResult& result) {
  CurvesByName curves;
  for (const MeasuredTransfer& transfer : result.transfers) {
    curves.add(fmt::format("{}, {}", name_of(transfer.direction), name_of(transfer.way)),
               static_cast<double>(transfer.bytes), transfer.gigabytes_per_second.median);
  }
  pages::LineChart chart = over_bytes("bytes of a transfer");
  chart.series = curves.take();
  pages::PageTable table{"Calls", {}};
  table.table.columns = {
      {"call"}, {"median us", Table::Align::right}, {"best us", Table::Align::right}};
  const auto add = [&](const char* name, const Measured& time) {
    table.table.rows.push_back(
        {name, fmt::format("{:.2f}", time.median), fmt::format("{:.2f}", time.best)});
  };
  add("a launch, queued", result.launch_us);
  add("a launch, waited for", result.launch_and_wait_us);
  add("mapping a buffer and unmapping it", result.map_us);
  return {"Transfers and calls",
          {pages::Figure{"Between host and device", draw(chart),
                         "Small transfers are paid by the call, large ones by the byte.",
                         fmt::format("{} curves.", chart.series.size())},
           std::move(table)}};
}

}  // namespace

std::vector<pages::Section> page_sections(const ProbeResult& result) {
  return {roofs_section(result), arithmetic_section(result), bandwidth_section(result),
          transfers_section(result)};
}

pages::Section page_section(const std::string& name, const ProbeSection& found) {
  pages::Section section{"Probe: " + name, {}};
  std::ranges::copy(found.figures, std::back_inserter(section.blocks));
  section.blocks.emplace_back(pages::FoldedText{"Tables", found.text});
  return section;
}

std::string page_of(const Device& device, std::vector<pages::Section> sections) {
  pages::Page page{"Probe of " + device.name(), pages::command_line(), {}, std::move(sections)};
  pages::add_device_facts(page, device.json());
  return html(page);
}

}  // namespace morton::cli
