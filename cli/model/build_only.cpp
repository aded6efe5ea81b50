// SPDX-License-Identifier: Apache-2.0
#include "model/build_only.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "common/child.hpp"
#include "common/device_description.hpp"
#include "common/output.hpp"
#include "common/read_model.hpp"
#include "common/terminal.hpp"
#include "model/statistics_report.hpp"
#include "morton/error.hpp"
#include "morton/tools/build.hpp"
#include "morton/tools/kernel.hpp"
#include "morton/tools/static_bound.hpp"

namespace morton::cli {
namespace {

/// A kernel to build, or why there is none.
struct Wanted {
  KernelText kernel;
  std::string refused;  ///< why the kernel computes nothing on this device; empty where it does
  std::vector<KernelText> steps;  ///< of a plan that have this text
};

/// Every kernel of the catalogue on its family's example.
std::vector<Wanted> every_kernel(const std::string& device, const CompileOptions& options) {
  std::vector<Wanted> wanted;
  for (const auto& [family, names] : kernel_names(options.catalogue_files)) {
    for (const std::string& name : names) {
      Wanted one;
      try {
        one.kernel = kernel_text(name, {}, device, options);
      } catch (const UnsupportedError& why) {
        one.kernel.kernel = name;
        one.refused = why.what();
      }
      wanted.push_back(std::move(one));
    }
  }
  return wanted;
}

/// The kernels of a plan, each text once.
std::vector<Wanted> kernels_of_plan(const Model& model, const std::string& device,
                                    const CompileOptions& options) {
  std::vector<Wanted> wanted;
  std::map<std::string, std::size_t> known;
  for (KernelText& step : kernel_texts(model, device, options)) {
    if (step.text.empty()) continue;
    const auto [found, is_new] = known.emplace(step.text, wanted.size());
    if (is_new) {
      Wanted one;
      one.kernel = step;
      wanted.push_back(std::move(one));
    }
    wanted[found->second].steps.push_back(std::move(step));
  }
  return wanted;
}

/// Sums over steps, in microseconds.
struct Bounds {
  double arithmetic_us = 0.0, memory_us = 0.0;  ///< each alone
  double us = 0.0;                              ///< of each step the larger one

  Bounds& operator+=(const Bounds& other) {
    arithmetic_us += other.arithmetic_us;
    memory_us += other.memory_us;
    us += other.us;
    return *this;
  }
};

/// What became of the kernels.
struct Report {
  Table table;
  Json json = Json::array();
  int built = 0, refused = 0, failed = 0;
  Bounds bounds;  ///< of a plan's steps
};

void add_refused(const Wanted& one, Report& report) {
  ++report.refused;
  report.table.rows.push_back(
      {one.kernel.kernel, "", "", "", "", "", "", "refused: " + one.refused});
  report.json.push_back({{"kernel", one.kernel.kernel}, {"refused", one.refused}});
}

/// What a table shows of a build's statistics; "-" where there is none.
std::vector<std::string> statistics_cells(const std::optional<CompilerStatistics>& statistics) {
  if (!statistics) return {"-", "-", "-"};
  const auto& turn = statistics->hot_loop;
  return {std::to_string(statistics->instructions),
          fmt::format("{}:{}", statistics->spills, statistics->fills),
          turn && turn->multiply_adds > 0 ? fmt::format("{:.2f}", turn->efficiency()) : "-"};
}

/// The bound of all steps that have the kernel's text.
Bounds bounds_of(const Wanted& one, const CompilerStatistics& statistics,
                 const std::string& device) {
  Bounds all;
  for (const KernelText& step : one.steps) {
    const StaticBound bound = static_bound(step, statistics, device);
    all += {bound.arithmetic_us, bound.memory_us, bound.us()};
  }
  return all;
}

Json names_of(const std::vector<KernelText>& steps) {
  Json names = Json::array();
  for (const KernelText& step : steps) names.push_back(step.step);
  return names;
}

void add_built(const Wanted& one, KernelBuild build, const std::string& device, Report& report) {
  const KernelText& kernel = one.kernel;
  std::optional<CompilerStatistics> statistics;
  try {
    if (build.is_built) statistics = statistics_of(build);
  } catch (const ModelError& error) {
    build.is_built = false;
    build.problem = error.what();
  }
  ++(build.is_built ? report.built : report.failed);
  const std::string why = build.problem.substr(0, build.problem.find('\n'));
  const std::size_t steps = std::max<std::size_t>(one.steps.size(), 1);
  Bounds bounds;
  if (statistics) bounds = bounds_of(one, *statistics, device);
  report.bounds += bounds;
  std::vector<std::string> row{kernel.kernel, std::to_string(steps),
                               fmt::format("{:.1f}", build.milliseconds)};
  for (std::string& cell : statistics_cells(statistics)) row.push_back(std::move(cell));
  row.push_back(statistics ? fmt::format("{:.3g}", bounds.us) : "-");
  row.push_back(build.is_built ? "built" : "failed: " + why);
  report.table.rows.push_back(std::move(row));
  report.json.push_back({{"kernel", kernel.kernel},
                         {"problem", kernel.problem},
                         {"tunables", kernel.tunables},
                         {"steps", steps},
                         {"step_names", names_of(one.steps)},
                         {"arithmetic_us", bounds.arithmetic_us},
                         {"memory_us", bounds.memory_us},
                         {"bound_us", bounds.us},
                         {"built", build.is_built},
                         {"error", build.problem},
                         {"milliseconds", build.milliseconds},
                         {"statistics", statistics ? statistics_json(*statistics) : Json()}});
}

}  // namespace

int build_only(const BuildOnly& what, const ModelOptions& model, const DeviceOptions& device) {
  require_one_device(device);
  const std::string described = what.device_info.empty() ? device.selector : "";
  const std::string description = device_description(described, what.device_info, device);
  CompileOptions options = compile_options(model);
  options.cache_dir = device.cache_dir;
  const std::vector<Wanted> wanted = what.all
                                         ? every_kernel(description, options)
                                         : kernels_of_plan(read_model(model), description, options);
  const Device opened = open_device(device);
  using enum Table::Align;
  Report report;
  report.table.columns = {{"kernel"},
                          {"steps", right},
                          {"ms", right},
                          {"instr", right},
                          {"spills:fills", right},
                          {"efficiency", right},
                          {"bound us", right},
                          {"result"}};
  Progress progress("building");
  KernelBuilder builder({device.selector, worker_command(), kBuildTimeoutMs});
  for (const Wanted& one : wanted) {
    if (one.refused.empty()) {
      add_built(one, builder.build(one.kernel), description, report);
    } else {
      add_refused(one, report);
    }
    progress.update(static_cast<double>(report.json.size()) / static_cast<double>(wanted.size()));
  }
  std::string summary =
      fmt::format("\n{} kernels built, {} refused, {} failed, on {}; nothing was launched\n",
                  report.built, report.refused, report.failed, opened.description());
  if (report.bounds.us > 0.0) {
    summary += fmt::format(
        "bound by the compiler: {:.3g} ms; arithmetic alone {:.3g} ms, memory alone {:.3g} ms\n",
        report.bounds.us / 1e3, report.bounds.arithmetic_us / 1e3, report.bounds.memory_us / 1e3);
  }
  emit(for_people(what.result.format) ? to_text(report.table, what.result.format) + summary
                                      : to_text(report.json, what.result.format),
       what.result.path);
  return report.failed == 0 ? 0 : 1;
}

}  // namespace morton::cli
