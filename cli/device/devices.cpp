// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/commands.hpp"
#include "common/log.hpp"
#include "common/machine.hpp"
#include "common/option_names.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "morton/device.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

constexpr const char* kDevicesFooter = R"(Examples:
  morton devices
  morton devices --format json -o board.json    # for morton plan --device-info)";

std::string yes_no(const Json& device, const std::string& key) {
  return device.value(key, false) ? "yes" : "no";
}

/// "4.0 GiB"; "n/a" when the description has no such number.
std::string size_of_key(const Json& device, const std::string& key) {
  return device.contains(key) ? bytes_text(device[key].get<std::int64_t>()) : "n/a";
}

/// "measured 2026-01-31", "guessed".
std::string peaks_of(const Json& device) {
  const std::string source = device.contains("roofs") ? device["roofs"].value("source", "") : "";
  return source.starts_with("guessed") ? "guessed" : source;
}

std::vector<std::string> row_of(const Json& device) {
  const bool real = device.value("local_memory_is_dedicated", false);
  return {
      device.value("id", ""),
      device.value("name", ""),
      device.value("platform", ""),
      device.value("kind", ""),
      fmt::format("{}", device.value("compute_units", std::int64_t{0})),
      size_of_key(device, "global_memory_bytes"),
      yes_no(device, "fp16"),
      yes_no(device, "images"),
      yes_no(device, "unified_memory"),
      fmt::format("{} {}", size_of_key(device, "local_memory_bytes"), real ? "real" : "emulated"),
      peaks_of(device)};
}

/// Facts of a core, each with where it is from: "16 (OpenCL)".
std::vector<std::string> core_row_of(const Json& device) {
  const Json sources = device.value("fact_sources", Json::object());
  const auto with_source = [&](const char* key, const std::string& text) {
    return fmt::format("{} ({})", text, sources.value(key, "declared"));
  };
  const auto number = [&](const char* key) {
    return with_source(key, fmt::format("{}", device.value(key, std::int64_t{0})));
  };
  const auto bytes = [&](const char* key) { return with_source(key, size_of_key(device, key)); };
  return {device.value("id", ""),     number("lanes"),
          number("vector_registers"), number("multiply_adds_per_cycle"),
          bytes("l1_bytes"),          bytes("l2_bytes"),
          number("threads_per_core"), with_source("dot_products", yes_no(device, "dot_products"))};
}

/// Of a core of each device: what the sizes of tiles follow from.
Table table_of_cores(const Json& devices) {
  Table table;
  table.columns = {{"id"},       {"lanes"},    {"registers"}, {"multiply-adds a cycle"},
                   {"L1 cache"}, {"L2 cache"}, {"threads"},   {"dot products"}};
  for (const Json& device : devices) table.rows.push_back(core_row_of(device));
  return table;
}

int list_devices(const ResultOptions& options, const std::string& cache_dir) {
  prepare_drivers();
  Json devices = Json::array();
  std::vector<Message> notes;
  DeviceConfig config;
  config.cache_dir = cache_dir;
  for (const std::string& text : Device::list_json(config, &notes)) {
    devices.push_back(Json::parse(text));
  }
  for (const Message& note : notes) log::warn("{}", with_options(note));
  if (devices.empty()) throw DeviceError("no OpenCL device was found");
  if (!for_people(options.format)) {
    emit(to_text(devices, options.format), options.path);
    return 0;
  }
  Table table;
  table.columns = {{"id"},
                   {"name"},
                   {"platform"},
                   {"kind"},
                   {"units", Table::Align::right},
                   {"memory", Table::Align::right},
                   {"fp16"},
                   {"images"},
                   {"unified"},
                   {"local memory"},
                   {"peaks"}};
  for (const Json& device : devices) table.rows.push_back(row_of(device));
  emit(to_text(table, options.format) + "\n" + to_text(table_of_cores(devices), options.format),
       options.path);
  return 0;
}

}  // namespace

void add_devices(CLI::App& app, Action& chosen) {
  CLI::App* command = app.add_subcommand("devices", "List the OpenCL devices and what they can do");
  command->footer(kDevicesFooter);
  auto options = std::make_shared<ResultOptions>();
  auto cache_dir = std::make_shared<std::string>();
  command
      ->add_option("--cache-dir", *cache_dir,
                   "Folder in which probe kept peaks (default: $MORTON_CACHE_DIR, else "
                   "~/.cache/morton)")
      ->option_text("FOLDER");
  add_options(*command, *options, every_format());
  command->callback([options, cache_dir, &chosen] {
    chosen = [options, cache_dir] { return list_devices(*options, *cache_dir); };
  });
}

}  // namespace morton::cli
