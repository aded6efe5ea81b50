// SPDX-License-Identifier: Apache-2.0
#include "plan/measured/tuned_file.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/environment_variables.hpp"
#include "base/error.hpp"
#include "base/files/emptied_json.hpp"
#include "base/files/file.hpp"
#include "base/files/folder.hpp"
#include "catalogue/embedded.hpp"

namespace morton::plan {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSchema = 1;
/// Some hundred thousand records.
constexpr std::int64_t kFileLimitBytes = std::int64_t{64} << 20;
constexpr std::string_view kTunedFolder = "tuned/";

std::map<std::string, std::string> texts_by_name(const JsonReader& reader) {
  std::map<std::string, std::string> texts;
  for (const auto& [name, member] : reader.members()) texts[name] = member.text();
  return texts;
}

/// A time or a rate: finite and not negative.
double measured(const JsonReader& reader) {
  const double value = reader.real();
  if (!std::isfinite(value) || value < 0.0) reader.fail("expected a number of 0 or more");
  return value;
}

TunedDevice device_from(const JsonReader& reader) {
  reader.allow_keys({"fingerprint", "name", "vendor", "platform", "kind"});
  return {reader.at("fingerprint").text(), reader.at("name").text(), reader.at("vendor").text(),
          reader.at("platform").text(), reader.at("kind").text()};
}

Verdict verdict_from(const JsonReader& reader, const TunedDevice& device) {
  reader.allow_keys({"kernel", "hash", "tunables", "why"});
  return {device, reader.at("kernel").text(), reader.at("hash").text(),
          environment_from(reader.at("tunables")), reader.at("why").text()};
}

Json to_json(const Verdict& verdict) {
  return {{"kernel", verdict.kernel},
          {"hash", verdict.hash},
          {"tunables", Json(verdict.tunables)},
          {"why", verdict.why}};
}

StaticCost static_cost_from(const JsonReader& reader, const TunedDevice& device) {
  reader.allow_keys({"kernel", "hash", "tunables", "once", "turn", "operations", "instructions",
                     "prologue", "spills", "threads", "registers", "efficiency"});
  StaticCost cost;
  cost.device = device;
  cost.kernel = reader.at("kernel").text();
  cost.hash = reader.at("hash").text();
  cost.tunables = environment_from(reader.at("tunables"));
  cost.once = measured(reader.at("once"));
  cost.turn = measured(reader.at("turn"));
  cost.operations = measured(reader.at("operations"));
  if (cost.operations == 0.0 || cost.once + cost.turn == 0.0) {
    reader.fail("expected operations and a cost of more than 0");
  }
  const auto count = [&](const char* key) {
    const std::int64_t number = reader.at(key).integer();
    constexpr std::int64_t kMost = 1'000'000'000;
    if (number < 0 || number > kMost) reader.at(key).fail("expected 0 to 1000000000");
    return static_cast<int>(number);
  };
  cost.instructions = count("instructions");
  cost.prologue = count("prologue");
  cost.spills = count("spills");
  if (reader.has("threads")) cost.threads = count("threads");
  if (reader.has("registers")) cost.registers = count("registers");
  cost.efficiency = measured(reader.at("efficiency"));
  return cost;
}

Json to_json(const StaticCost& cost) {
  Json json = {{"kernel", cost.kernel},
               {"hash", cost.hash},
               {"tunables", Json(cost.tunables)},
               {"once", cost.once},
               {"turn", cost.turn},
               {"operations", cost.operations},
               {"instructions", cost.instructions},
               {"prologue", cost.prologue},
               {"spills", cost.spills},
               {"efficiency", cost.efficiency}};
  if (cost.threads) json["threads"] = *cost.threads;
  if (cost.registers) json["registers"] = *cost.registers;
  return json;
}

/// An array with one element on each line, so that files are compared line by line.
std::string lines_text(const Json& array) {
  std::string text = "[";
  for (const Json& element : array) {
    text += (text.size() == 1 ? "\n    " : ",\n    ") +
            element.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return text + (array.empty() ? "]" : "\n  ]");
}

/// What `items` has of the device.
template <class Item>
Json array_of(const std::vector<Item>& items, const TunedDevice& device) {
  Json array = Json::array();
  for (const Item& item : items) {
    if (item.device == device) array.push_back(to_json(item));
  }
  return array;
}

/// The .json files of the folder in the order of their names; none where there is no folder.
std::vector<fs::path> tuning_files_in(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code status;
  if (!fs::is_directory(folder, status)) return paths;
  for (const fs::path& file : entries_of(folder, status)) {
    if (file.extension() == ".json") paths.push_back(file);
  }
  std::ranges::sort(paths);
  return paths;
}

}  // namespace

TunedRecord tuned_record_from(const JsonReader& reader, const TunedDevice& device) {
  reader.allow_keys({"kernel", "hash", "problem", "tunables", "ms", "gflops", "peak_gflops",
                     "efficiency", "standard_ms", "tried", "space"});
  TunedRecord record;
  record.device = device;
  record.kernel = reader.at("kernel").text();
  record.hash = reader.at("hash").text();
  record.problem = tuned_problem_from(reader.at("problem"));
  record.tunables = environment_from(reader.at("tunables"));
  record.ms = measured(reader.at("ms"));
  record.gflops = measured(reader.at("gflops"));
  record.peak_gflops = measured(reader.at("peak_gflops"));
  record.efficiency = measured(reader.at("efficiency"));
  // Matrix units do more than the peak of f32, by a factor of ten or so.
  constexpr double kMostEfficiency = 100.0;
  if (record.efficiency == 0.0 || record.efficiency > kMostEfficiency) {
    reader.at("efficiency").fail("expected more than 0, and 100 at most");
  }
  record.standard_ms = measured(reader.at("standard_ms"));
  record.tried = reader.at("tried").integer();
  record.space = reader.at("space").integer();
  return record;
}

Json to_json(const TunedRecord& record) {
  return {{"kernel", record.kernel},
          {"hash", record.hash},
          {"problem", to_json(record.problem)},
          {"tunables", Json(record.tunables)},
          {"ms", record.ms},
          {"gflops", record.gflops},
          {"peak_gflops", record.peak_gflops},
          {"efficiency", record.efficiency},
          {"standard_ms", record.standard_ms},
          {"tried", record.tried},
          {"space", record.space}};
}

Json to_json(const TunedProblem& problem) {
  Json json = {{"family", problem.family.name()},
               {"extents", Json(problem.extents)},
               {"types", problem.types}};
  if (!problem.structure.empty()) json["structure"] = Json(problem.structure);
  if (!problem.orders.empty()) json["orders"] = problem.orders;
  return json;
}

TunedProblem tuned_problem_from(const JsonReader& reader) {
  reader.allow_keys({"family", "extents", "structure", "types", "orders"});
  TunedProblem problem;
  const std::string name = reader.at("family").text();
  const ProblemFamily* family = find_problem_family(name);
  if (family == nullptr) {
    reader.at("family").fail("there is no family of problems '" + name + "'");
  }
  problem.family = family->id;
  problem.extents = environment_from(reader.at("extents"));
  if (reader.has("structure")) problem.structure = environment_from(reader.at("structure"));
  problem.types = texts_by_name(reader.at("types"));
  if (reader.has("orders")) problem.orders = texts_by_name(reader.at("orders"));
  return problem;
}

Environment environment_from(const JsonReader& reader) {
  Environment values;
  for (const auto& [name, member] : reader.members()) values[name] = member.integer();
  return values;
}

TunedDevice read_tuning(const Json& json, const std::string& file, TunedData& data) {
  const JsonReader reader(json, file);
  reader.allow_keys({"schema", "device", "records", "refused", "static"});
  if (reader.at("schema").integer() != kSchema) {
    reader.at("schema").fail("expected 1, the only schema there is");
  }
  const TunedDevice device = device_from(reader.at("device"));
  for (const auto& record : reader.at("records").elements()) {
    data.add(tuned_record_from(record, device));
  }
  for (const auto& verdict : reader.at("refused").elements()) {
    data.add(verdict_from(verdict, device));
  }
  if (!reader.has("static")) return device;
  for (const auto& cost : reader.at("static").elements()) {
    data.add(static_cost_from(cost, device));
  }
  return device;
}

TunedDevice read_tuning_file(const fs::path& path, TunedData& data) {
  const EmptiedJson json(parse_json(read_file(path, kFileLimitBytes), path.string()));
  return read_tuning(*json, path.string(), data);
}

std::vector<JsonReader> tuning_parts(const JsonReader& reader) {
  if (!reader.has("devices")) return {reader};
  reader.allow_keys({"schema", "devices"});
  if (reader.at("schema").integer() != kSchema) {
    reader.at("schema").fail("expected 1, the only schema there is");
  }
  return reader.at("devices").elements();
}

void read_given_tuning(const fs::path& path, TunedData& data) {
  const EmptiedJson json(parse_json(read_file(path, kFileLimitBytes), path.string()));
  for (const JsonReader& part : tuning_parts(JsonReader(*json, path.string()))) {
    read_tuning(part.json(), part.where(), data);
  }
}

void read_kept_tuning(const fs::path& folder, TunedData& data) {
  for (const auto& path : tuning_files_in(folder)) {
    try {
      read_tuning_file(path, data);
    } catch (const ModelError& error) {
      throw ModelError(error.message() + "; remove this file, or all of them by " +
                       setting("cache", "clear tuning"));
    }
  }
}

void read_shipped_tuning(TunedData& data) {
  if (const auto folder = environment_variable("MORTON_KERNEL_DIR")) {
    for (const auto& path : tuning_files_in(fs::path(*folder) / kTunedFolder)) {
      read_tuning_file(path, data);
    }
    return;
  }
  for (const EmbeddedFile& file : embedded_kernels()) {
    if (!file.path.starts_with(kTunedFolder)) continue;
    const std::string name(file.path);
    read_tuning(*EmptiedJson(parse_json(file.content, name)), name, data);
  }
}

void read_shipped_file(const std::string& name, TunedData& data) {
  if (const auto folder = environment_variable("MORTON_KERNEL_DIR")) {
    const fs::path path = fs::path(*folder) / name;
    std::error_code status;
    if (fs::exists(path, status)) read_tuning_file(path, data);
    return;
  }
  for (const EmbeddedFile& file : embedded_kernels()) {
    if (file.path == name) read_tuning(*EmptiedJson(parse_json(file.content, name)), name, data);
  }
}

std::string print_tuning(const TunedDevice& device, const TunedData& data) {
  const Json records = array_of(data.records(), device);
  const Json refused = array_of(data.verdicts(), device);
  const Json costs = array_of(data.static_costs(), device);
  const Json facts = {{"fingerprint", device.fingerprint},
                      {"name", device.name},
                      {"vendor", device.vendor},
                      {"platform", device.platform},
                      {"kind", device.kind}};
  return "{\n  \"schema\": 1,\n  \"device\": " +
         facts.dump(-1, ' ', false, Json::error_handler_t::replace) +
         ",\n  \"records\": " + lines_text(records) + ",\n  \"refused\": " + lines_text(refused) +
         (costs.empty() ? "" : ",\n  \"static\": " + lines_text(costs)) + "\n}\n";
}

}  // namespace morton::plan
