// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/comparison.hpp"
#include "bench/figures.hpp"
#include "bench/report_json.hpp"
#include "common/statistics.hpp"

namespace morton::cli {
namespace {

bool has_peers(const Field& field) {
  return !std::ranges::all_of(field.contenders, [](const auto& c) { return is_kernel(*c); });
}

std::string percent_text(std::optional<double> share) {
  return share ? fmt::format("{:.1f} %", 100.0 * *share) : "n/a";
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

/// With the values that the kernel is built with in place of its tunables.
std::string demand_of(const KernelInfo* kernel, const std::string& operand,
                      const Contender::About& about) {
  if (kernel == nullptr) return "";
  for (const auto& [name, demand] : kernel->operands) {
    if (name == operand) return demand_with(demand, tunables_of(about, kernel->name));
  }
  return "";
}

/// Products are rated by their operations, everything else by the bytes that it moves.
bool rated_by_flop(const Setting& setting) {
  return setting.problem.rating == SingleProblem::Rating::by_operations;
}

Table figures_table(const Field& field, const Setting& setting) {
  using enum Table::Align;
  const bool flop = rated_by_flop(setting);
  const std::string unit = flop ? "GFLOP/s" : "GB/s";
  Table table;
  const auto column = [&](const std::string& name) { table.columns.push_back({name, right}); };
  table.columns.push_back({"kernel"});
  column(unit);
  if (flop) column("of peak");
  if (flop) column("best");
  for (const char* name : {"us", "iqr", "wait us"}) column(name);
  const Contender* ours = has_peers(field) ? ours_of(field) : nullptr;
  if (ours != nullptr) column("ours/it");
  column("alone " + unit);
  if (flop) column("of peak");
  for (const char* name : {"us", "device us", "error"}) column(name);

  const auto microseconds = [](double ms) { return digits_text(1e3 * ms); };
  const auto rate = [&](const Figure& figure) {
    return digits_text(flop ? figure.gflops : figure.gigabytes_per_second);
  };
  for (const auto& contender : field.contenders) {
    const Figures figures = figures_of(*contender, setting);
    const Figure& call = figures.call;
    std::vector<std::string> row{contender->name(), rate(call)};
    if (flop) row.push_back(percent_text(call.share));
    if (flop) row.push_back(percent_text(call.best_share));
    row.push_back(microseconds(call.ms.p50));
    row.push_back(fmt::format("{:.1f} %", 100.0 * call.ms.iqr() / call.ms.p50));
    row.push_back(microseconds(figures.wait_ms));
    if (ours != nullptr) row.push_back(digits_text(ratio_of(*contender, *ours)));
    row.push_back(figures.alone ? rate(*figures.alone) : "n/a");
    if (flop) row.push_back(figures.alone ? percent_text(figures.alone->share) : "n/a");
    row.push_back(figures.alone ? microseconds(figures.alone->ms.p50) : "n/a");
    row.push_back(figures.device ? microseconds(figures.device->ms.p50) : "n/a");
    row.push_back(fmt::format("{:.1e}", contender->error()));
    table.rows.push_back(row);
  }
  return table;
}

/// "TILE_M=6 TILE_N=64" of each kernel that has any.
std::string tunables_text(const Contender::About& about) {
  std::string text;
  for (const auto& [kernel, values] : about.tunables) {
    text += text.empty() ? "" : ",";
    for (const auto& [name, value] : values) {
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
    }
  }
  return text;
}

Table formats_table(const Field& field, const Setting& setting) {
  Table table;
  table.columns = {{"kernel"}, {"local"}, {"tunables"}, {"stored"}};
  const std::vector<std::string> operands = operands_of(setting.kernels);
  for (const std::string& operand : operands) table.columns.push_back({operand});
  table.columns.push_back({"padded"});
  for (const auto& contender : field.contenders) {
    if (!is_kernel(*contender)) continue;
    const Contender::About about = contender->about();
    std::vector<std::string> row{contender->name(), about.work_group, tunables_text(about),
                                 std::string(name_of(about.stored))};
    const KernelInfo* info = find_info(setting.kernels, contender->name());
    for (const std::string& operand : operands) row.push_back(demand_of(info, operand, about));
    row.push_back(about.padding.empty() ? "-" : about.padding);
    table.rows.push_back(row);
  }
  return table;
}

std::string absent_text(const char* heading, const std::vector<Field::Absent>& absent) {
  if (absent.empty()) return "";
  std::string text = fmt::format("\n{}:\n\n", heading);
  for (const auto& [name, why] : absent) text += fmt::format("- {}: {}\n", name, why);
  return text;
}

/// What a reader must know beside the figures.
std::string notes_text(const Field& field, const Setting& setting) {
  std::string notes;
  for (const auto& contender : field.contenders) {
    const Contender::About about = contender->about();
    if (!about.version.empty()) notes += fmt::format("\n{}: {}", contender->name(), about.version);
    if (about.kind == Contender::Kind::peer && !about.bounded_by_peak) {
      notes += "; the peak is that of f32 on the device, which does not bound it";
    }
    if (about.kind == Contender::Kind::kernel && about.stored != DType::f32) {
      const bool is_byte = about.stored == DType::u8 || about.stored == DType::i8;
      notes +=
          fmt::format("\n{}: {} {}; the peak is that of f32", contender->name(),
                      is_byte ? "multiplies" : "holds operands rounded to", name_of(about.stored));
    }
  }
  for (const std::string& line : above_peak(field, setting)) notes += "\nwrong: " + line;
  return notes.empty() ? "" : notes + "\n";
}

std::string text_of(const Field& field, const Setting& setting, Format format) {
  std::string text = fmt::format("{} on {}\n", setting.problem.title, setting.device.description());
  if (field.contenders.empty()) {
    text += "nothing to measure: no result was right\n";
  } else {
    text += fmt::format("peak {:.1f} GFLOP/s ({}, median; best {:.1f})\n",
                        median_of(setting.peak_gflops), setting.peak_kind,
                        std::ranges::max(setting.peak_gflops));
    text += "buffers: " + setting.buffers + "\n";
    text += "checked: " + setting.coverage + "\n\n";
    text += to_text(figures_table(field, setting), format);
    if (ours_of(field) != nullptr) text += "\n" + to_text(formats_table(field, setting), format);
    text += notes_text(field, setting);
  }
  return text + absent_text("Cut by --budget", field.cut) +
         absent_text("Cannot compute it", field.rejected) + absent_text("Failed", field.failed);
}

}  // namespace

std::string report_of(const Field& field, const Setting& setting, Format format) {
  if (for_people(format)) return text_of(field, setting, format);
  const Json json = report_json(field, setting);
  return to_text(format == Format::csv ? json["contenders"] : json, format);
}

}  // namespace morton::cli
