// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "device/probe_names.hpp"
#include "device/probe_report.hpp"

namespace morton::cli {
namespace {

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

}  // namespace

Json device_json(const Device& device) {
  const Json facts = Json::parse(device.json());
  return {{"id", device.id()},
          {"name", device.name()},
          {"platform", facts.value("platform", "")},
          {"driver", facts.value("driver_version", "")},
          {"compute_units", facts.value("compute_units", std::int64_t{0})}};
}

Json peaks_json(const ProbeResult& result, const Device& device, const std::string& kept) {
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
      {"device", device_json(device)},
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

Json peaks_records(const ProbeResult& result) {
  Json list = Json::array();
  for (const MeasuredArithmetic& arithmetic : result.arithmetic) {
    add(list, {"arithmetic", arithmetic.type + " " + arithmetic.operation, arithmetic.width,
               "GFLOP/s", arithmetic.gflops});
  }
  for (const MeasuredMemory& memory : result.memory) {
    add(list, {"memory", name_of(memory.access), memory.footprint_bytes, "GB/s",
               memory.gigabytes_per_second});
  }
  for (const MeasuredTransfer& transfer : result.transfers) {
    add(list, {"transfer", fmt::format("{} {}", name_of(transfer.direction), name_of(transfer.way)),
               transfer.bytes, "GB/s", transfer.gigabytes_per_second});
  }
  add(list, {"map", "map and unmap", 0, "us", result.map_us});
  add(list, {"launch", "queued", 1, "us", result.launch_us});
  add(list, {"launch", "waited for", 1, "us", result.launch_and_wait_us});
  if (result.host_products.empty()) return list;
  add(list, {"launch", "and a step on the host", 1, "us", result.launch_and_host_step_us});
  for (const MeasuredHostProduct& product : result.host_products) {
    add(list, {"product", "on the host", product.size, "us", product.us});
  }
  return list;
}

}  // namespace morton::cli
