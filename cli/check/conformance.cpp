// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fnmatch.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "check/conformance_case.hpp"
#include "common/commands.hpp"
#include "common/log.hpp"
#include "common/options.hpp"
#include "common/output.hpp"

namespace morton::cli {
namespace {

using CaseOutcome = ConformanceResult::Outcome;
using Results = std::vector<ConformanceResult>;

constexpr const char* kConformanceFooter =
    R"(Each test is a folder with model.onnx and test_data_set_0, as ONNX ships them for its operators. Its
model is planned anew and must give the expected types, shapes and values (relative 1e-3,
of f16 2^-9, of bf16 2^-6; absolute 1e-7).

  device       right, computed by the device
  host         right, known when the model was planned: shape arithmetic
  unsupported  refused before anything ran, with the reason
  disputed     another result than the test's, which contradicts ONNX's text for the reason given
  failed       wrong, or an error: makes the status 1

Examples:
  morton conformance /usr/share/libonnx-testdata/data/node
  morton conformance /usr/share/libonnx-testdata/data/node --filter 'test_slice*' --every
  morton conformance /usr/share/libonnx-testdata/data/node --generic)";

struct ConformanceArguments {
  std::string folder;
  std::string filter = "*";
  bool every = false;
  bool strict = false;
  bool generic = false;
  DeviceOptions device;
  KernelOptions kernels;
  ResultOptions result;
};

/// With --generic, one test of so many is computed by the model's own kernels too.
constexpr std::size_t kOwnEach = 10;

bool is_right(const ConformanceResult& result) {
  return result.outcome == CaseOutcome::device || result.outcome == CaseOutcome::host;
}

/// How many tests came out each way.
using Counts = std::map<CaseOutcome, std::int64_t>;

std::map<std::string, Counts> totals_of(const Results& results) {
  std::map<std::string, Counts> totals;
  for (const ConformanceResult& result : results) ++totals[result.operators][result.outcome];
  return totals;
}

constexpr CaseOutcome kOutcomes[] = {CaseOutcome::device, CaseOutcome::host,
                                     CaseOutcome::unsupported, CaseOutcome::disputed,
                                     CaseOutcome::failed};

Counts sum_of(const Results& results) {
  Counts sum;
  for (const ConformanceResult& result : results) ++sum[result.outcome];
  return sum;
}

Json json_of(Counts counts) {
  Json object = Json::object();
  for (const CaseOutcome outcome : kOutcomes) object[word_of(outcome)] = counts[outcome];
  return object;
}

Json json_of(const Results& results) {
  Json tests = Json::array();
  for (const ConformanceResult& result : results) {
    tests.push_back({{"test", result.name},
                     {"operator", result.operators},
                     {"outcome", word_of(result.outcome)},
                     {"reason", result.reason}});
  }
  Json operators = Json::object();
  for (const auto& [op, counts] : totals_of(results)) operators[op] = json_of(counts);
  return {{"tests", tests}, {"operators", operators}, {"totals", json_of(sum_of(results))}};
}

Table tests_table(const Results& results, const ConformanceArguments& options) {
  Table table;
  table.columns = {{"test"}, {"operator"}, {"outcome"}, {"reason"}};
  for (const ConformanceResult& result : results) {
    if (is_right(result) && !options.every) continue;
    table.rows.push_back({result.name, result.operators, word_of(result.outcome), result.reason});
  }
  return table;
}

Table totals_table(const Results& results) {
  using enum Table::Align;
  Table table;
  table.columns = {{"operator"}};
  for (const CaseOutcome outcome : kOutcomes) table.columns.push_back({word_of(outcome), right});
  const auto add = [&](const std::string& name, Counts counts) {
    std::vector<std::string> row{name};
    for (const CaseOutcome outcome : kOutcomes) row.push_back(std::to_string(counts[outcome]));
    table.rows.push_back(std::move(row));
  };
  for (const auto& [op, counts] : totals_of(results)) add(op, counts);
  add("all", sum_of(results));
  return table;
}

std::string text_of(const Results& results, const ConformanceArguments& options) {
  const Table tests = tests_table(results, options);
  std::string text;
  if (!tests.rows.empty()) text = to_text(tests, options.result.format) + "\n";
  return text + to_text(totals_table(results), options.result.format);
}

/// With --strict the host may give shape arithmetic only.
void apply_strictness(ConformanceResult& result) {
  if (result.outcome != CaseOutcome::host || result.shapes_alone) return;
  result.outcome = CaseOutcome::failed;
  result.reason = "--strict: the host gave what is no shape arithmetic";
}

int check_conformance(const ConformanceArguments& options) {
  const CompileOptions compile = compile_options(options.kernels);
  const auto cases = find_conformance_cases(options.folder);
  const Device device = open_device(options.device);
  CompileOptions generic = compile;
  generic.start = CompileOptions::Start::interim_alone;
  Results results;
  for (const auto& folder : cases) {
    const std::string name = folder.filename().string();
    if (fnmatch(options.filter.c_str(), name.c_str(), 0) != 0) continue;
    results.push_back(run_conformance_case(folder, device, options.generic ? generic : compile));
    if (options.generic && results.size() % kOwnEach == 0 && is_right(results.back())) {
      results.back() = run_conformance_case(folder, device, compile);
    }
    if (options.strict) apply_strictness(results.back());
    log::debug("{}: {} {}", name, word_of(results.back().outcome), results.back().reason);
  }
  if (results.empty()) throw UsageError("--filter " + options.filter + ": names no test");
  const bool people = for_people(options.result.format);
  emit(people ? text_of(results, options) : to_text(json_of(results), options.result.format),
       options.result.path);
  const std::int64_t failed = sum_of(results)[CaseOutcome::failed];
  if (failed == 0) return 0;
  log::error("{} of {} tests failed", failed, results.size());
  return kCheckFailed;
}

}  // namespace

void add_conformance(CLI::App& app, Action& chosen) {
  CLI::App* command =
      app.add_subcommand("conformance", "Run ONNX's tests of its operators on a device");
  command->footer(kConformanceFooter);
  auto options = std::make_shared<ConformanceArguments>();
  command->add_option("DIR", options->folder, "The folder of the tests")
      ->option_text(" ")
      ->required();
  command->add_option("--filter", options->filter, "Only tests whose names match ('test_slice*')")
      ->option_text("PATTERN");
  command->add_flag("--every", options->every, "List passed tests too");
  command->add_flag("--generic", options->generic,
                    "Compute by the generic kernels, which are built once for all models; every "
                    "tenth test is computed by the model's own kernels too");
  command->add_flag("--strict", options->strict,
                    "Fail results that the host computed, except shape arithmetic");
  add_options(*command, options->device);
  add_options(*command, options->kernels);
  add_options(*command, options->result,
              {{"table", Format::table}, {"md", Format::md}, {"json", Format::json}});
  command->callback(
      [options, &chosen] { chosen = [options] { return check_conformance(*options); }; });
}

}  // namespace morton::cli
