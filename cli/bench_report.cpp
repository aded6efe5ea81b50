// SPDX-License-Identifier: Apache-2.0
#include "bench_report.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

#include "statistics.hpp"

namespace morton::cli {
namespace {

/// The kernel's own median, or what there is.
std::optional<double> kernel_median(const Contender& contender) {
  if (contender.kernel_ms().size() < contender.whole_ms().size()) return std::nullopt;
  return median_of(contender.kernel_ms());
}

std::optional<double> rate(double amount, std::optional<double> ms) {
  return ms ? std::optional(amount / (*ms * 1e6)) : std::nullopt;
}

const KernelInfo* find_info(const std::vector<KernelInfo>& kernels, const std::string& name) {
  const auto found = std::ranges::find(kernels, name, &KernelInfo::name);
  return found == kernels.end() ? nullptr : &*found;
}

Json optional_json(std::optional<double> value) { return value ? Json(*value) : Json(); }

/// By kernel, of the steps that compute.
Json tunables_json(const Contender& contender) {
  Json json = Json::object();
  for (const StepInfo& step : contender.steps()) {
    if (step.role == StepInfo::Role::repack) continue;
    for (const auto& [name, value] : step.tunables) json[step.kernel][name] = value;
  }
  return json;
}

Json contender_json(const Contender& contender, const Setting& setting) {
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
  json["tunables"] = tunables_json(contender);
  Json operands = Json::object();
  if (const KernelInfo* info = find_info(setting.kernels, contender.name())) {
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

Json json_of(const Field& field, const Setting& setting) {
  const Json facts = Json::parse(setting.device.json());
  Json contenders = Json::array();
  for (const auto& contender : field.contenders) {
    contenders.push_back(contender_json(*contender, setting));
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

/// Operands that kernels of the family declare, in their order.
std::vector<std::string> operands_of(const std::vector<KernelInfo>& kernels) {
  std::vector<std::string> names;
  for (const KernelInfo& kernel : kernels) {
    for (const auto& [operand, demand] : kernel.operands) {
      if (std::ranges::find(names, operand) == names.end()) names.push_back(operand);
    }
  }
  return names;
}

std::string demand_of(const KernelInfo* kernel, const std::string& operand) {
  if (kernel == nullptr) return "";
  for (const auto& [name, demand] : kernel->operands) {
    if (name == operand) return demand;
  }
  return "";
}

/// Products are rated by their operations, everything else by the bytes that it moves.
bool rated_by_flop(const Setting& setting) { return setting.problem.family == "gemm"; }

std::vector<Table::Column> columns_of(const Setting& setting) {
  using enum Table::Align;
  const std::string unit = rated_by_flop(setting) ? "GFLOP/s" : "GB/s";
  std::vector<Table::Column> columns{{"kernel"}, {unit, right}};
  if (rated_by_flop(setting)) columns.push_back({"of peak", right});
  columns.push_back({"ms", right});
  columns.push_back({"packed " + unit, right});
  columns.push_back({"packed ms", right});
  columns.push_back({"local"});
  columns.push_back({"tunables"});
  columns.push_back({"error", right});
  for (const std::string& operand : operands_of(setting.kernels)) columns.push_back({operand});
  columns.push_back({"padded to"});
  return columns;
}

std::vector<std::string> row_of(const Contender& contender, const Setting& setting) {
  const SingleProblem& problem = setting.problem;
  const double amount = rated_by_flop(setting) ? problem.flop : problem.bytes;
  const std::optional<double> kernel = kernel_median(contender);
  const double whole = median_of(contender.whole_ms());
  std::vector<std::string> row{contender.name(), number_text(rate(amount, kernel), 2)};
  if (rated_by_flop(setting)) {
    row.push_back(percent_text(rate(problem.flop, kernel), median_of(setting.peak_gflops)));
  }
  row.push_back(number_text(kernel, 3));
  row.push_back(number_text(rate(amount, whole), 2));
  row.push_back(number_text(whole, 3));
  row.push_back(contender.work_group());
  row.push_back(contender.tunables());
  row.push_back(fmt::format("{:.1e}", contender.error()));
  const KernelInfo* info = find_info(setting.kernels, contender.name());
  for (const std::string& operand : operands_of(setting.kernels)) {
    row.push_back(demand_of(info, operand));
  }
  row.push_back(info == nullptr ? "" : info->padding);
  return row;
}

std::string absent_text(const char* heading, const std::vector<Field::Absent>& absent) {
  if (absent.empty()) return "";
  std::string text = fmt::format("\n{}:\n\n", heading);
  for (const auto& [name, why] : absent) text += fmt::format("- {}: {}\n", name, why);
  return text;
}

std::string text_of(const Field& field, const Setting& setting, Format format) {
  std::string text = fmt::format("{} on {}\n", setting.problem.title, setting.device.description());
  text +=
      fmt::format("peak {:.1f} GFLOP/s ({}, median; best {:.1f})\n", median_of(setting.peak_gflops),
                  setting.peak_kind, std::ranges::max(setting.peak_gflops));
  text += "checked: " + setting.coverage + "\n\n";
  if (!field.contenders.empty()) {
    Table table{columns_of(setting), {}};
    for (const auto& contender : field.contenders) {
      table.rows.push_back(row_of(*contender, setting));
    }
    text += to_text(table, format);
  }
  return text + absent_text("Cannot compute it", field.rejected) +
         absent_text("Failed", field.failed);
}

}  // namespace

void sort_by_speed(Field& field) {
  std::ranges::stable_sort(field.contenders, [](const auto& a, const auto& b) {
    return kernel_median(*a).value_or(median_of(a->whole_ms())) <
           kernel_median(*b).value_or(median_of(b->whole_ms()));
  });
}

std::string report_of(const Field& field, const Setting& setting, Format format) {
  if (for_people(format)) return text_of(field, setting, format);
  const Json json = json_of(field, setting);
  return to_text(format == Format::csv ? json["contenders"] : json, format);
}

}  // namespace morton::cli
