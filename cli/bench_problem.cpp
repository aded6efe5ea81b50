// SPDX-License-Identifier: Apache-2.0
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>

#include "commands.hpp"
#include "contender.hpp"
#include "inputs.hpp"
#include "morton/error.hpp"
#include "morton/peak.hpp"
#include "options.hpp"
#include "output.hpp"
#include "single_problem.hpp"
#include "statistics.hpp"
#include "terminal.hpp"

namespace morton::cli {
namespace {

constexpr const char* kFooter =
    R"(Every kernel is checked first: on small integers, whose result must be exact, and on random
numbers, whose result must lie within the error bound; a wrong one has no figures, and the status is 1.
Then all take turns. `kernel` is the device's own clock of the computing steps; `packed` the host's clock
of calls back to back, with packing and unpacking. The figures are medians. `peak` is measured in the
same turns: multiply-adds in registers.

Examples:
  morton bench gemm --m 1000 --n 1000 --k 1000 --all
  morton bench gemm --m 64 --n 64 --k 64 --use gemm=gemm.rm_rm --local 8x8 --format json
  morton bench bias --rows 1000 --columns 1000 --all)";

struct Options {
  std::string family;
  std::int64_t m = 0, n = 0, k = 0, rows = 0, columns = 0;
  bool transpose_a = false, transpose_b = false, all = false;
  DeviceOptions device;
  KernelOptions kernels;
  MeasureOptions measure;
  ResultOptions result;
};

/// What all contenders are measured beside.
struct Setting {
  SingleProblem problem;
  Device device;
  std::string peak_kind;
  std::vector<double> peak_gflops;
  std::string coverage;
};

SingleProblem problem_of(const Options& options) {
  if (options.family != "gemm") {
    return matrix_problem(options.family, options.rows, options.columns);
  }
  using Order = GemmShape::Order;
  GemmShape shape{options.m, options.n, options.k};
  shape.lhs = options.transpose_a ? Order::transposed : Order::plain;
  shape.rhs = options.transpose_b ? Order::transposed : Order::plain;
  return gemm_problem(shape);
}

bool by_bytes(const Options& options) { return options.family != "gemm"; }

/// Lets the contenders take turns until the time is over, or `iterations` rounds are done.
void take_turns(Field& field, Setting& setting, const MeasureOptions& options) {
  // Few samples say nothing of the spread, so slow kernels get more time than was asked for.
  constexpr std::int64_t kLeastRounds = 5;
  const double duration_ms = parse_duration_ms(options.duration);
  PeakProbe probe(setting.device);
  setting.peak_kind = probe.description();
  Progress progress("measuring");
  const Stopwatch watch;
  for (std::int64_t round = 0;; ++round) {
    const std::int64_t goal = options.iterations > 0 ? options.iterations : kLeastRounds;
    const double rounds_done = static_cast<double>(round) / static_cast<double>(goal);
    const double time_done = options.iterations > 0 ? 1.0 : watch.ms() / duration_ms;
    if (rounds_done >= 1.0 && time_done >= 1.0) return;
    setting.peak_gflops.push_back(probe.sample_gflops());
    for (std::size_t i = 0; i < field.contenders.size(); ++i) {
      field.contenders[i]->sample();
      const double part = static_cast<double>(i) / static_cast<double>(field.contenders.size());
      progress.update(std::min(rounds_done + part / static_cast<double>(goal), time_done));
    }
  }
}

/// The kernel's own median, or what there is.
std::optional<double> kernel_median(const Contender& contender) {
  if (contender.kernel_ms().size() < contender.whole_ms().size()) return std::nullopt;
  return median_of(contender.kernel_ms());
}

std::optional<double> rate(double amount, std::optional<double> ms) {
  return ms ? std::optional(amount / (*ms * 1e6)) : std::nullopt;
}

/// Quickest kernel first.
void sort_by_speed(Field& field) {
  std::ranges::stable_sort(field.contenders, [](const auto& a, const auto& b) {
    return kernel_median(*a).value_or(median_of(a->whole_ms())) <
           kernel_median(*b).value_or(median_of(b->whole_ms()));
  });
}

const KernelInfo* find_info(const std::vector<KernelInfo>& kernels, const std::string& name) {
  const auto found = std::ranges::find(kernels, name, &KernelInfo::name);
  return found == kernels.end() ? nullptr : &*found;
}

Json optional_json(std::optional<double> value) { return value ? Json(*value) : Json(); }

Json contender_json(const Contender& contender, const Setting& setting,
                    const std::vector<KernelInfo>& kernels) {
  const SingleProblem& problem = setting.problem;
  const std::optional<double> kernel = kernel_median(contender);
  const double whole = median_of(contender.whole_ms());
  const auto gflops = rate(problem.flop, kernel);
  Json json = {{"name", contender.name()},
               {"median_ms", optional_json(kernel)},
               {"min_ms", kernel ? Json(std::ranges::min(contender.kernel_ms())) : Json()},
               {"gflops", optional_json(gflops)},
               {"gigabytes_per_second", optional_json(rate(problem.bytes, kernel))},
               {"clock", kernel ? "device" : "none"},
               {"error", contender.error()}};
  if (gflops) json["share_of_peak"] = *gflops / median_of(setting.peak_gflops);
  json["packed"] = {{"median_ms", whole},
                    {"min_ms", std::ranges::min(contender.whole_ms())},
                    {"gflops", problem.flop / (whole * 1e6)},
                    {"gigabytes_per_second", problem.bytes / (whole * 1e6)},
                    {"clock", "host"}};
  json["samples"] = contender.whole_ms().size();
  json["work_group"] = contender.work_group();
  Json operands = Json::object();
  if (const KernelInfo* info = find_info(kernels, contender.name())) {
    for (const auto& [operand, demand] : info->operands) operands[operand] = demand;
    json["padding"] = info->padding;
  }
  json["operands"] = operands;
  Json steps = Json::array();
  for (const StepInfo& step : contender.steps()) steps.push_back(step.kernel);
  json["steps"] = steps;
  return json;
}

Json absent_json(const std::vector<Field::Absent>& absent) {
  Json list = Json::array();
  for (const auto& [name, why] : absent) list.push_back({{"name", name}, {"why", why}});
  return list;
}

Json json_of(const Field& field, const Setting& setting, const std::vector<KernelInfo>& kernels) {
  const Json facts = Json::parse(setting.device.json());
  Json contenders = Json::array();
  for (const auto& contender : field.contenders) {
    contenders.push_back(contender_json(*contender, setting, kernels));
  }
  return {{"problem", setting.problem.facts},
          {"flop", setting.problem.flop},
          {"bytes", setting.problem.bytes},
          {"device",
           {{"id", setting.device.id()},
            {"name", setting.device.name()},
            {"platform", facts.value("platform", "")},
            {"driver", facts.value("driver_version", "")}}},
          {"peak",
           {{"gflops", median_of(setting.peak_gflops)},
            {"max_gflops", std::ranges::max(setting.peak_gflops)},
            {"kind", setting.peak_kind}}},
          {"checked", setting.coverage},
          {"contenders", contenders},
          {"rejected", absent_json(field.rejected)},
          {"failed", absent_json(field.failed)}};
}

std::string percent_text(std::optional<double> gflops, double peak) {
  return gflops ? fmt::format("{:.1f} %", 100.0 * *gflops / peak) : "n/a";
}

Table table_of(const Field& field, const Setting& setting, const std::vector<KernelInfo>& kernels,
               const Options& options) {
  using enum Table::Align;
  const SingleProblem& problem = setting.problem;
  const bool bytes = by_bytes(options);
  const double amount = bytes ? problem.bytes : problem.flop;
  const std::string unit = bytes ? "GB/s" : "GFLOP/s";
  Table table;
  table.columns = {{"kernel"}, {unit, right}};
  if (!bytes) table.columns.push_back({"of peak", right});
  table.columns.insert(table.columns.end(), {{"ms", right},
                                             {"packed " + unit, right},
                                             {"packed ms", right},
                                             {"local"},
                                             {"error", right}});
  std::vector<std::string> roles;
  for (const KernelInfo& kernel : kernels) {
    if (!kernel.operands.empty() && roles.empty()) {
      for (const auto& [role, demand] : kernel.operands) roles.push_back(role);
    }
  }
  for (const std::string& role : roles) table.columns.push_back({role});
  table.columns.push_back({"padded to"});
  for (const auto& contender : field.contenders) {
    const std::optional<double> kernel = kernel_median(*contender);
    const double whole = median_of(contender->whole_ms());
    std::vector<std::string> row{contender->name(), number_text(rate(amount, kernel), 2)};
    if (!bytes) {
      row.push_back(percent_text(rate(problem.flop, kernel), median_of(setting.peak_gflops)));
    }
    row.insert(row.end(),
               {number_text(kernel, 3), number_text(rate(amount, whole), 2), number_text(whole, 3),
                contender->work_group(), fmt::format("{:.1e}", contender->error())});
    const KernelInfo* info = find_info(kernels, contender->name());
    for (const std::string& role : roles) {
      std::string demand;
      for (const auto& [operand, text] :
           info == nullptr ? decltype(info->operands){} : info->operands) {
        if (operand == role) demand = text;
      }
      row.push_back(demand);
    }
    row.push_back(info == nullptr ? "" : info->padding);
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string absent_text(const char* heading, const std::vector<Field::Absent>& absent) {
  if (absent.empty()) return "";
  std::string text = fmt::format("\n{}:\n\n", heading);
  for (const auto& [name, why] : absent) text += fmt::format("- {}: {}\n", name, why);
  return text;
}

std::string text_of(const Field& field, const Setting& setting,
                    const std::vector<KernelInfo>& kernels, const Options& options) {
  std::string text = fmt::format("{} on {}\n", setting.problem.title, setting.device.description());
  text +=
      fmt::format("peak {:.1f} GFLOP/s ({}, median; best {:.1f})\n", median_of(setting.peak_gflops),
                  setting.peak_kind, std::ranges::max(setting.peak_gflops));
  text += "checked: " + setting.coverage + "\n\n";
  if (!field.contenders.empty()) {
    text += to_text(table_of(field, setting, kernels, options), options.result.format);
  }
  return text + absent_text("Cannot compute it", field.rejected) +
         absent_text("Failed", field.failed);
}

int bench(const Options& options) {
  CompileOptions compile = compile_options(options.kernels);
  const SingleProblem problem = problem_of(options);
  const std::vector<KernelInfo> kernels = kernels_of(problem.family, compile.catalogue_files);
  Setting setting{problem, open_device(options.device), "", {}, ""};
  const std::uint64_t seed = options.measure.seed;
  using Rule = Expectation::Rule;
  const Expectation integers(problem, integer_inputs(problem, seed),
                             problem.exact_on_integers ? Rule::exact : Rule::bounded, seed);
  const Expectation reals(problem, random_inputs(problem.model.inputs(), seed), Rule::bounded,
                          seed);
  setting.coverage = fmt::format("integers{}, {}; random numbers within the error bound, {}",
                                 problem.exact_on_integers ? " exactly" : "", integers.coverage(),
                                 reals.coverage());
  Field field =
      make_field(problem, setting.device, compile,
                 options.all ? Selection::every : Selection::as_asked, {&integers, &reals});
  take_turns(field, setting, options.measure);
  sort_by_speed(field);
  const Json json = json_of(field, setting, kernels);
  const Format format = options.result.format;
  if (for_people(format)) {
    emit(text_of(field, setting, kernels, options), options.result.path);
  } else {
    emit(to_text(format == Format::csv ? json["contenders"] : json, format), options.result.path);
  }
  for (const auto& [name, why] : field.failed) spdlog::error("{}: {}", name, why);
  return field.failed.empty() ? 0 : kCheckFailed;
}

void add_size(CLI::App& command, const char* name, std::int64_t& size, const char* what) {
  command.add_option(name, size, what)->option_text("N")->required();
}

}  // namespace

void add_bench_problem(CLI::App& bench_command, const std::string& family, Action& chosen) {
  const bool gemm = family == "gemm";
  CLI::App* command = bench_command.add_subcommand(
      family, gemm ? "Measure kernels for a matrix product" : "Measure kernels for " + family);
  command->footer(kFooter);
  auto options = std::make_shared<Options>();
  options->family = family;
  if (gemm) {
    add_size(*command, "--m", options->m, "Rows of the result");
    add_size(*command, "--n", options->n, "Columns of the result");
    add_size(*command, "--k", options->k, "Terms of each sum");
    command->add_flag("--trans-a", options->transpose_a, "The left operand is held transposed");
    command->add_flag("--trans-b", options->transpose_b, "The right operand is held transposed");
  } else {
    add_size(*command, "--rows", options->rows, "Rows of the matrix");
    add_size(*command, "--columns", options->columns, "Columns of the matrix");
  }
  command->add_flag("--all", options->all, "Every kernel and recipe of the family that can");
  add_options(*command, options->kernels);
  add_options(*command, options->measure);
  add_options(*command, options->device);
  add_options(*command, options->result,
              {{"table", Format::table},
               {"md", Format::md},
               {"json", Format::json},
               {"jsonl", Format::jsonl},
               {"csv", Format::csv}});
  command->callback([options, &chosen] { chosen = [options] { return bench(*options); }; });
}

}  // namespace morton::cli
