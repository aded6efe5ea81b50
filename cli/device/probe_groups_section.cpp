// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "device/probe_names.hpp"
#include "device/probe_section.hpp"

namespace morton::cli {
namespace {

std::string group_name(const MeasuredGroup& measured) {
  if (measured.group[0] == 0) return "driver's";
  return fmt::format("{}x{}", measured.group[0], measured.group[1]);
}

const MeasuredGroup& best_group(const MeasuredGroups& kernel) {
  return *std::ranges::min_element(
      kernel.groups, {}, [](const MeasuredGroup& measured) { return measured.us.median; });
}

/// What the kernel does in a microsecond, in 10^9 a second.
double rate_of(const MeasuredGroups& kernel, const MeasuredGroup& measured) {
  const auto items = static_cast<double>(kernel.work_items[0] * kernel.work_items[1]);
  const double amount = kernel.kernel == "product"
                            ? 2.0 * items * static_cast<double>(kernel.work_items[0])
                            : 2.0 * 16.0 * items;
  return amount / (measured.us.median * 1e3);
}

const char* rate_unit(const MeasuredGroups& kernel) {
  return kernel.kernel == "product" ? "GFLOP/s" : "GB/s";
}

Table groups_table(const MeasuredGroups& kernel) {
  using enum Table::Align;
  Table table;
  table.columns = {{kernel.kernel + ", work-group"},
                   {"us, median (best)", right},
                   {rate_unit(kernel), right},
                   {"of the best", right}};
  const double best = best_group(kernel).us.median;
  for (const MeasuredGroup& measured : kernel.groups) {
    table.rows.push_back({group_name(measured), measured_text(measured.us, 1),
                          fmt::format("{:.1f}", rate_of(kernel, measured)),
                          fmt::format("{:.0f} %", 100.0 * best / measured.us.median)});
  }
  return table;
}

std::string groups_text(const std::vector<MeasuredGroups>& kernels, Format format) {
  std::string text = "shapes of work-groups, dimension 0 (along rows in memory) by dimension 1\n";
  for (const MeasuredGroups& kernel : kernels) {
    text += "\n" + to_text(groups_table(kernel), format);
    text += fmt::format("Best of {} on {} x {} work-items: {}.\n", kernel.kernel,
                        kernel.work_items[0], kernel.work_items[1], group_name(best_group(kernel)));
    for (const std::string& left_out : kernel.left_out) text += "Left out: " + left_out + ".\n";
  }
  return text;
}

Json groups_json(const std::vector<MeasuredGroups>& kernels) {
  Json list = Json::array();
  for (const MeasuredGroups& kernel : kernels) {
    Json groups = Json::array();
    for (const MeasuredGroup& measured : kernel.groups) {
      groups.push_back({{"group", measured.group[0] == 0 ? Json() : Json(measured.group)},
                        {"rate", rate_of(kernel, measured)}});
      put(groups.back(), "us", measured.us);
    }
    list.push_back({{"kernel", kernel.kernel},
                    {"work_items", kernel.work_items},
                    {"rate_unit", rate_unit(kernel)},
                    {"best", group_name(best_group(kernel))},
                    {"groups", groups},
                    {"left_out", kernel.left_out}});
  }
  return list;
}

Json groups_records(const std::vector<MeasuredGroups>& kernels) {
  Json list = Json::array();
  for (const MeasuredGroups& kernel : kernels) {
    for (const MeasuredGroup& measured : kernel.groups) {
      add(list, {"work-group", kernel.kernel + " " + group_name(measured),
                 kernel.work_items[0] * kernel.work_items[1], "us", measured.us});
    }
  }
  return list;
}

std::vector<pages::Figure> groups_figures(const std::vector<MeasuredGroups>& kernels) {
  std::vector<pages::Figure> figures;
  for (const MeasuredGroups& kernel : kernels) {
    pages::BarChart chart = rates_chart(rate_unit(kernel));
    for (const MeasuredGroup& measured : kernel.groups) {
      add_rate(group_name(measured), rate_of(kernel, measured), chart);
    }
    figures.push_back({kernel.kernel + " by work-group", draw(chart), "Longer bars are faster.",
                       fmt::format("{} bars, one for each work-group.", chart.bars.size())});
  }
  return figures;
}

}  // namespace

ProbeSection section_of(const std::vector<MeasuredGroups>& kernels, Format format) {
  return {groups_text(kernels, format), groups_json(kernels), groups_records(kernels),
          groups_figures(kernels)};
}

}  // namespace morton::cli
