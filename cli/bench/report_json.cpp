// SPDX-License-Identifier: Apache-2.0
#include "bench/report_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/comparison.hpp"
#include "bench/figures.hpp"
#include "common/json_values.hpp"
#include "common/statistics.hpp"

namespace morton::cli {
namespace {

Json figure_json(const Figure& figure, const char* clock) {
  Json json = {{"median_ms", figure.ms.p50},
               {"min_ms", figure.ms.min},
               {"iqr_ms", figure.ms.iqr()},
               {"mean_ms", figure.ms.mean},
               {"standard_error_ms", or_null(figure.ms.standard_error())},
               {"gflops", figure.gflops},
               {"best_gflops", figure.best_gflops},
               {"gigabytes_per_second", figure.gigabytes_per_second},
               {"clock", clock}};
  if (figure.share) json["share_of_peak"] = *figure.share;
  if (figure.best_share) json["best_share_of_peak"] = *figure.best_share;
  return json;
}

Json contender_json(const Contender& contender, const Field& field, const Setting& setting) {
  const Figures figures = figures_of(contender, setting);
  const Contender::About about = contender.about();
  Json json = {{"name", contender.name()}, {"kind", is_kernel(contender) ? "kernel" : "peer"}};
  if (!about.version.empty()) json["version"] = about.version;
  json.update(figure_json(figures.call, "host"));
  json["error"] = contender.error();
  if (const Contender* ours = ours_of(field)) json["ratio"] = ratio_of(contender, *ours);
  json["alone"] = figures.alone ? figure_json(*figures.alone, "host") : Json();
  json["device"] = figures.device ? figure_json(*figures.device, "device") : Json();
  json["wait_ms"] = figures.wait_ms;
  json["samples"] = contender.samples().call.size();
  if (!is_kernel(contender)) return json;
  json["stored"] = name_of(about.stored);
  json["work_group"] = about.work_group;
  json["tunables"] = Json(about.tunables);
  Json operands = Json::object();
  if (const KernelInfo* info = find_info(setting.kernels, contender.name())) {
    for (const auto& [operand, demand] : info->operands) {
      operands[operand] = demand_with(demand, tunables_of(about, info->name));
    }
  }
  json["operands"] = operands;
  json["padding"] = about.padding;
  json["steps"] = about.steps;
  return json;
}

Json absent_json(const std::vector<Field::Absent>& absent) {
  Json list = Json::array();
  for (const auto& [name, why] : absent) list.push_back({{"name", name}, {"why", why}});
  return list;
}

}  // namespace

Json report_json(const Field& field, const Setting& setting) {
  const Json facts = Json::parse(setting.device.json());
  Json contenders = Json::array();
  for (const auto& contender : field.contenders) {
    contenders.push_back(contender_json(*contender, field, setting));
  }
  Json problem = to_json(setting.problem.facts);
  problem["precision"] = setting.precision;
  const Contender* ours = ours_of(field);
  Json peak;
  if (!setting.peak_gflops.empty()) {
    peak = {{"gflops", median_of(setting.peak_gflops)},
            {"max_gflops", std::ranges::max(setting.peak_gflops)},
            {"kind", setting.peak_kind}};
  }
  return {{"problem", problem},
          {"flop", setting.problem.flop},
          {"bytes", setting.problem.bytes},
          {"device",
           {{"id", setting.device.id()},
            {"name", setting.device.name()},
            {"platform", facts.value("platform", "")},
            {"driver", facts.value("driver_version", "")}}},
          {"buffers", setting.buffers},
          {"footprint_bytes", setting.footprint_bytes},
          {"peak", peak},
          {"checked", field.contenders.empty() ? Json() : Json(setting.coverage)},
          {"ours", ours == nullptr ? Json() : Json(ours->name())},
          {"contenders", contenders},
          {"above_peak", above_peak(field, setting)},
          {"cut", absent_json(field.cut)},
          {"rejected", absent_json(field.rejected)},
          {"failed", absent_json(field.failed)}};
}

}  // namespace morton::cli
