// SPDX-License-Identifier: Apache-2.0
#include "device/probe_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/terminal.hpp"

namespace morton::cli {
namespace {

const char* name_of(MeasuredMemory::Access access) {
  using Access = MeasuredMemory::Access;
  return access == Access::read    ? "read"
         : access == Access::write ? "write"
         : access == Access::copy  ? "copy"
                                   : "image read";
}

const char* name_of(MeasuredTransfer::Direction direction) {
  return direction == MeasuredTransfer::Direction::to_device ? "to device" : "from device";
}

const char* name_of(MeasuredTransfer::Way way) {
  using Way = MeasuredTransfer::Way;
  return way == Way::pageable ? "pageable" : way == Way::pinned ? "pinned" : "mapped";
}

const char* name_of(ProbeOptions::Effort effort) {
  return effort == ProbeOptions::Effort::full ? "full" : "quick";
}

/// "28.13 (29.40)"
std::string text_of(const Measured& measured, int decimals = 2) {
  return fmt::format("{:.{}f} ({:.{}f})", measured.median, decimals, measured.best, decimals);
}

/// Keys with the unit in them: "median_gflops".
void put(Json& json, const std::string& unit, const Measured& measured) {
  json["median_" + unit] = measured.median;
  json["best_" + unit] = measured.best;
  json["samples"] = measured.samples;
}

Json arithmetic_json(const ProbeResult& result) {
  Json list = Json::array();
  for (const MeasuredArithmetic& arithmetic : result.arithmetic) {
    list.push_back({{"type", arithmetic.type},
                    {"width", arithmetic.width},
                    {"operation", arithmetic.operation}});
    put(list.back(), "gflops", arithmetic.gflops);
  }
  return list;
}

Json memory_json(const ProbeResult& result) {
  Json list = Json::array();
  for (const MeasuredMemory& memory : result.memory) {
    list.push_back(
        {{"access", name_of(memory.access)}, {"footprint_bytes", memory.footprint_bytes}});
    put(list.back(), "gigabytes_per_second", memory.gigabytes_per_second);
  }
  return list;
}

Json transfers_json(const ProbeResult& result) {
  Json list = Json::array();
  for (const MeasuredTransfer& transfer : result.transfers) {
    list.push_back({{"direction", name_of(transfer.direction)},
                    {"way", name_of(transfer.way)},
                    {"bytes", transfer.bytes}});
    put(list.back(), "gigabytes_per_second", transfer.gigabytes_per_second);
  }
  return list;
}

double gflops_of(const MeasuredHostProduct& product) {
  const auto size = static_cast<double>(product.size);
  return 2.0 * size * size * size / (product.us.median * 1e3);
}

Json host_products_json(const ProbeResult& result) {
  Json list = Json::array();
  for (const MeasuredHostProduct& product : result.host_products) {
    list.push_back({{"size", product.size}, {"gflops", gflops_of(product)}});
    put(list.back(), "us", product.us);
  }
  return list;
}

Json time_json(const Measured& measured) {
  Json json;
  put(json, "us", measured);
  return json;
}

Json json_of(const ProbeResult& result, const Device& device, const std::string& kept) {
  const Json facts = Json::parse(device.json());
  const RooflinePeaks peaks = peaks_of(result);
  Json bandwidth = Json::array();
  for (const FootprintBandwidth& point : peaks.bandwidth) {
    bandwidth.push_back({{"footprint_bytes", point.footprint_bytes},
                         {"gigabytes_per_second", point.gigabytes_per_second}});
  }
  Json products = Json::array();
  for (const HostProduct& product : peaks.host.products) {
    products.push_back({{"flop", product.flop}, {"us", product.us}});
  }
  return {
      {"device",
       {{"id", device.id()},
        {"name", device.name()},
        {"platform", facts.value("platform", "")},
        {"driver", facts.value("driver_version", "")},
        {"compute_units", facts.value("compute_units", std::int64_t{0})}}},
      {"date", result.date},
      {"effort", name_of(result.effort)},
      {"clock", result.device_clock ? "device" : "host"},
      {"arithmetic", arithmetic_json(result)},
      {"clock_product",
       {{"gflops", result.clock_product_gflops > 0.0 ? Json(result.clock_product_gflops) : Json()},
        {"text", result.clock_product_text}}},
      {"memory", memory_json(result)},
      {"transfers", transfers_json(result)},
      {"map", time_json(result.map_us)},
      {"launch", time_json(result.launch_us)},
      {"launch_and_wait", time_json(result.launch_and_wait_us)},
      {"launch_and_host_step",
       result.host_products.empty() ? Json() : time_json(result.launch_and_host_step_us)},
      {"host_products", host_products_json(result)},
      {"roofs",
       {{"gflops_f32", peaks.gflops_f32},
        {"gigabytes_per_second", peaks.gigabytes_per_second},
        {"launch_us", peaks.launch_us},
        {"launch_and_wait_us", peaks.launch_and_wait_us},
        {"bandwidth", bandwidth},
        {"host", {{"launch_and_step_us", peaks.host.launch_and_step_us}, {"products", products}}},
        {"source", peaks.source}}},
      {"kept", kept.empty() ? Json() : Json(kept)},
      {"notes", result.notes}};
}

/// One record for each figure, all of the same form.
Json records_of(const ProbeResult& result) {
  Json list = Json::array();
  const auto add = [&](const std::string& what, const std::string& how, std::int64_t size,
                       const std::string& unit, const Measured& measured) {
    list.push_back({{"what", what},
                    {"how", how},
                    {"size", size},
                    {"unit", unit},
                    {"median", measured.median},
                    {"best", measured.best},
                    {"samples", measured.samples}});
  };
  for (const MeasuredArithmetic& arithmetic : result.arithmetic) {
    add("arithmetic", arithmetic.type + " " + arithmetic.operation, arithmetic.width, "GFLOP/s",
        arithmetic.gflops);
  }
  for (const MeasuredMemory& memory : result.memory) {
    add("memory", name_of(memory.access), memory.footprint_bytes, "GB/s",
        memory.gigabytes_per_second);
  }
  for (const MeasuredTransfer& transfer : result.transfers) {
    add("transfer", fmt::format("{} {}", name_of(transfer.direction), name_of(transfer.way)),
        transfer.bytes, "GB/s", transfer.gigabytes_per_second);
  }
  add("map", "map and unmap", 0, "us", result.map_us);
  add("launch", "queued", 1, "us", result.launch_us);
  add("launch", "waited for", 1, "us", result.launch_and_wait_us);
  if (result.host_products.empty()) return list;
  add("launch", "and a step on the host", 1, "us", result.launch_and_host_step_us);
  for (const MeasuredHostProduct& product : result.host_products) {
    add("product", "on the host", product.size, "us", product.us);
  }
  return list;
}

Table arithmetic_table(const ProbeResult& result) {
  Table table;
  table.columns = {{"arithmetic, GFLOP/s"},
                   {"vector of", Table::Align::right},
                   {"median (best)", Table::Align::right}};
  for (const MeasuredArithmetic& arithmetic : result.arithmetic) {
    table.rows.push_back({arithmetic.type + " " + arithmetic.operation,
                          std::to_string(arithmetic.width), text_of(arithmetic.gflops, 1)});
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
      row.push_back(found == result.memory.end() ? "" : text_of(found->gigabytes_per_second, 1));
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
        {bytes_text(to.bytes), name_of(to.way), text_of(to.gigabytes_per_second),
         from == result.transfers.end() ? "" : text_of(from->gigabytes_per_second)});
  }
  return table;
}

Table time_table(const ProbeResult& result) {
  Table table;
  table.columns = {{"calls, us"}, {"median (best)", Table::Align::right}};
  table.rows = {{"a launch, queued", text_of(result.launch_us)},
                {"a launch, waited for", text_of(result.launch_and_wait_us)},
                {"mapping a buffer and unmapping it", text_of(result.map_us)}};
  if (!result.host_products.empty()) {
    table.rows.push_back(
        {"a launch, then a step on the host", text_of(result.launch_and_host_step_us)});
  }
  return table;
}

Table host_table(const ProbeResult& result) {
  using enum Table::Align;
  Table table;
  table.columns = {
      {"products on the host, size", right}, {"us, median (best)", right}, {"GFLOP/s", right}};
  for (const MeasuredHostProduct& product : result.host_products) {
    table.rows.push_back({std::to_string(product.size), text_of(product.us),
                          fmt::format("{:.1f}", gflops_of(product))});
  }
  return table;
}

std::string text_of(const ProbeResult& result, const Device& device, const std::string& kept,
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

}  // namespace

std::string report_of(const ProbeResult& result, const Device& device, const std::string& kept,
                      Format format) {
  if (for_people(format)) return text_of(result, device, kept, format);
  return to_text(format == Format::csv ? records_of(result) : json_of(result, device, kept),
                 format);
}

}  // namespace morton::cli
