// SPDX-License-Identifier: Apache-2.0
#include "device/probe_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "device/probe_names.hpp"

namespace morton::cli {
namespace {

Table arithmetic_table(const ProbeResult& result) {
  Table table;
  table.columns = {{"arithmetic, GFLOP/s"},
                   {"vector of", Table::Align::right},
                   {"median (best)", Table::Align::right}};
  for (const MeasuredArithmetic& arithmetic : result.arithmetic) {
    table.rows.push_back({arithmetic.type + " " + arithmetic.operation,
                          std::to_string(arithmetic.width), measured_text(arithmetic.gflops, 1)});
  }
  return table;
}

/// One row for each footprint, one column for each access that was measured.
Table memory_table(const ProbeResult& result) {
  Table table;
  table.columns = {{"memory, GB/s", Table::Align::right}};
  std::vector<MeasuredMemory::Access> accesses;
  std::vector<std::int64_t> footprints;
  for (const MeasuredMemory& memory : result.memory) {
    if (std::ranges::find(accesses, memory.access) == accesses.end()) {
      accesses.push_back(memory.access);
      table.columns.push_back({name_of(memory.access), Table::Align::right});
    }
    footprints.push_back(memory.footprint_bytes);
  }
  std::ranges::sort(footprints);
  footprints.erase(std::unique(footprints.begin(), footprints.end()), footprints.end());
  for (const std::int64_t footprint : footprints) {
    std::vector<std::string> row{bytes_text(footprint)};
    for (const auto access : accesses) {
      const auto found = std::ranges::find_if(result.memory, [&](const MeasuredMemory& memory) {
        return memory.access == access && memory.footprint_bytes == footprint;
      });
      row.push_back(found == result.memory.end() ? ""
                                                 : measured_text(found->gigabytes_per_second, 1));
    }
    table.rows.push_back(row);
  }
  return table;
}

Table transfer_table(const ProbeResult& result) {
  Table table;
  table.columns = {{"transfers, GB/s", Table::Align::right},
                   {"way"},
                   {"to device", Table::Align::right},
                   {"from device", Table::Align::right}};
  using Direction = MeasuredTransfer::Direction;
  for (const MeasuredTransfer& to : result.transfers) {
    if (to.direction != Direction::to_device) continue;
    const auto from = std::ranges::find_if(result.transfers, [&](const MeasuredTransfer& other) {
      return other.direction == Direction::from_device && other.way == to.way &&
             other.bytes == to.bytes;
    });
    table.rows.push_back(
        {bytes_text(to.bytes), name_of(to.way), measured_text(to.gigabytes_per_second),
         from == result.transfers.end() ? "" : measured_text(from->gigabytes_per_second)});
  }
  return table;
}

Table time_table(const ProbeResult& result) {
  Table table;
  table.columns = {{"calls, us"}, {"median (best)", Table::Align::right}};
  table.rows = {{"a launch, queued", measured_text(result.launch_us)},
                {"a launch, waited for", measured_text(result.launch_and_wait_us)},
                {"mapping a buffer and unmapping it", measured_text(result.map_us)}};
  if (!result.host_products.empty()) {
    table.rows.push_back(
        {"a launch, then a step on the host", measured_text(result.launch_and_host_step_us)});
  }
  return table;
}

Table host_table(const ProbeResult& result) {
  using enum Table::Align;
  Table table;
  table.columns = {
      {"products on the host, size", right}, {"us, median (best)", right}, {"GFLOP/s", right}};
  for (const MeasuredHostProduct& product : result.host_products) {
    table.rows.push_back({std::to_string(product.size), measured_text(product.us),
                          fmt::format("{:.1f}", gflops_of(product))});
  }
  return table;
}

}  // namespace

std::string peaks_text(const ProbeResult& result, const Device& device, const std::string& kept,
                       Format format) {
  const RooflinePeaks peaks = peaks_of(result);
  std::string text = fmt::format("device {}\nmeasured {} ({}), kernels by the {}'s clock\n\n",
                                 device.description(), result.date, name_of(result.effort),
                                 result.device_clock ? "device" : "host");
  text += to_text(arithmetic_table(result), format);
  text += result.clock_product_gflops > 0.0
              ? fmt::format("clock x width x units: {:.1f} GFLOP/s ({})\n",
                            result.clock_product_gflops, result.clock_product_text)
              : fmt::format("clock x width x units: n/a, {}\n", result.clock_product_text);
  text += "\n" + to_text(memory_table(result), format);
  text += "\n" + to_text(transfer_table(result), format);
  text += "\n" + to_text(time_table(result), format);
  text += "\n" + (result.host_products.empty()
                      ? std::string("products on the host: n/a, the device has memory of its own\n")
                      : to_text(host_table(result), format));
  text += fmt::format(
      "\npeaks: {:.1f} GFLOP/s, {:.1f} GB/s, {:.2f} us a launch; arithmetic bounds what does more "
      "than {:.1f} operations on each byte of memory\n",
      peaks.gflops_f32, peaks.gigabytes_per_second, peaks.launch_us,
      peaks.gflops_f32 / peaks.gigabytes_per_second);
  return text + (kept.empty() ? "not kept\n" : fmt::format("kept in {}\n", kept));
}

}  // namespace morton::cli
