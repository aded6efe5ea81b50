// SPDX-License-Identifier: Apache-2.0
#include "run/profile_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace morton::cli {
namespace {

Json optional_json(std::optional<double> value) { return value ? Json(*value) : Json(); }

std::string work_group_text(const std::array<std::int64_t, 3>& size) {
  std::string text = std::to_string(size[0]);
  if (size[1] != 1 || size[2] != 1) text += fmt::format("x{}", size[1]);
  if (size[2] != 1) text += fmt::format("x{}", size[2]);
  return text;
}

const char* role_name(StepInfo::Role role) {
  return role == StepInfo::Role::compute  ? "compute"
         : role == StepInfo::Role::repack ? "repack"
                                          : "transfer";
}

bool on_host(const ProfiledStep& step) { return step.info.place == StepInfo::Place::host; }

/// "lhs f32 R, rhs f32 R_*_64_R".
std::string formats_text(const StepInfo& step) {
  std::string text;
  for (const StepOperand& operand : step.operands) {
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", operand.name, name_of(operand.type),
                        operand.layout);
  }
  return text;
}

Json routines_json(const std::vector<CallTime>& calls) {
  Json routines = Json::object();
  for (const CallTime& call : calls) {
    const double before = routines.value(call.routine, 0.0);
    routines[call.routine] = before + call.device_us;
  }
  return routines;
}

Json step_json(const ProfiledStep& step, std::size_t index) {
  const auto share = [](const std::optional<ShareOfPeak>& of) {
    return of ? Json(of->share()) : Json();
  };
  const auto rate = [](const std::optional<ShareOfPeak>& of) {
    return of ? Json(of->rate) : Json();
  };
  return {{"index", index},
          {"name", step.info.name},
          {"kernel", step.info.kernel},
          {"role", role_name(step.info.role)},
          {"place", on_host(step) ? "host" : "device"},
          {"formats", formats_text(step.info)},
          {"work_group", work_group_text(step.info.local)},
          {"global", work_group_text(step.info.global)},
          {"host_us", step.host_us},
          {"enqueue_us", step.enqueue_us},
          {"device_us", optional_json(step.device_us)},
          {"routines_us", routines_json(step.calls)},
          {"estimated_us", step.info.estimated_us},
          {"flop", step.info.flop},
          {"bytes", step.info.logical_bytes},
          {"footprint_bytes", step.info.footprint_bytes},
          {"gflops", rate(step.arithmetic)},
          {"share_of_peak", share(step.arithmetic)},
          {"gigabytes_per_second", rate(step.memory)},
          {"bandwidth_peak", step.memory ? Json(step.memory->peak) : Json()},
          {"share_of_bandwidth", share(step.memory)},
          {"bound_by", step.bound_by}};
}

Json steps_json(const Profile& profile) {
  Json list = Json::array();
  for (std::size_t s = 0; s < profile.steps.size(); ++s) {
    list.push_back(step_json(profile.steps[s], s));
  }
  return list;
}

/// Operations of the whole network by the device's clock; empty where it has none.
std::optional<double> network_gflops(const Profile& profile) {
  if (!profile.steps_ms || *profile.steps_ms <= 0.0) return std::nullopt;
  double flop = 0.0;
  for (const ProfiledStep& step : profile.steps) flop += static_cast<double>(step.info.flop);
  return flop / *profile.steps_ms / 1e6;
}

Json json_of(const Profile& profile, const ProfileSetting& setting) {
  const Json facts = Json::parse(setting.device_facts);
  return {{"model", setting.model},
          {"inputs", setting.inputs},
          {"precision", setting.precision},
          {"device",
           {{"id", facts.value("id", "")},
            {"name", facts.value("name", "")},
            {"platform", facts.value("platform", "")},
            {"driver", facts.value("driver_version", "")}}},
          {"roofs",
           {{"gflops_f32", setting.peaks.gflops_f32},
            {"gigabytes_per_second", setting.peaks.gigabytes_per_second},
            {"launch_us", setting.peaks.launch_us},
            {"source", setting.peaks.source}}},
          {"runs", profile.runs},
          {"steps", steps_json(profile)},
          {"gflops", optional_json(network_gflops(profile))},
          {"clocks",
           {{"device_sum_ms", optional_json(profile.steps_ms)},
            {"host_end_to_end_ms", profile.end_to_end_ms},
            {"gap_ms", optional_json(profile.gap_ms)},
            {"between_steps_ms", optional_json(profile.between_ms)},
            {"host_enqueue_ms", profile.enqueue_ms},
            {"on_host_ms", optional_json(profile.on_host_ms)},
            {"host_end_to_end_unmeasured_ms", profile.plain_ms}}}};
}

std::string peak_percent_text(const std::optional<ShareOfPeak>& share) {
  return share ? fmt::format("{:.1f} %", 100.0 * share->share()) : "n/a";
}

std::string rate_text(const std::optional<ShareOfPeak>& share) {
  return share ? fmt::format("{:.2f}", share->rate) : "n/a";
}

/// "whole network: 12.3 GFLOP/s, 45.6 % of the peak of f32".
std::string network_text(const Profile& profile, const RooflinePeaks& peaks) {
  const std::optional<double> gflops = network_gflops(profile);
  if (!gflops) return "";
  std::string text = fmt::format("\nwhole network: {:.2f} GFLOP/s", *gflops);
  if (peaks.gflops_f32 > 0.0) {
    text += fmt::format(", {:.1f} % of the peak of f32", 100.0 * *gflops / peaks.gflops_f32);
  }
  return text + "\n";
}

/// How near to end to end the sum of steps and launches must be to leave nothing to say.
constexpr double kAccounted = 0.05;

/// How many steps the plan estimated well, by the device's clock; empty where it has none.
std::string estimates_text(const Profile& profile) {
  constexpr double kWell = 1.5;
  int well = 0;
  int known = 0;
  double well_us = 0.0;
  double whole_us = 0.0;
  for (const ProfiledStep& step : profile.steps) {
    if (!step.device_us || *step.device_us <= 0.0 || step.info.estimated_us <= 0.0) continue;
    const double ratio = step.info.estimated_us / *step.device_us;
    const bool is_well = ratio <= kWell && ratio >= 1.0 / kWell;
    ++known;
    whole_us += *step.device_us;
    well += is_well ? 1 : 0;
    well_us += is_well ? *step.device_us : 0.0;
  }
  if (known == 0) return "";
  return fmt::format("\nestimates within {} times: {} of {} steps, {:.0f} % of their time\n", kWell,
                     well, known, 100.0 * well_us / whole_us);
}

std::string text_of(const Profile& profile, const ProfileSetting& setting, Format format) {
  std::string text = fmt::format("{}: {}, {}, on {}\n", setting.model, setting.inputs,
                                 setting.precision, setting.device);
  text +=
      fmt::format("peaks: {:.1f} GFLOP/s, {:.1f} GB/s beyond all caches, {:.2f} us a launch: {}\n",
                  setting.peaks.gflops_f32, setting.peaks.gigabytes_per_second,
                  setting.peaks.launch_us, setting.peaks.source);
  text += fmt::format("medians of {} runs\n\n", profile.runs);
  text += to_text(steps_table(profile), format) + "\n";
  text += to_text(formats_table(profile), format) + "\n";
  const Table routines = routines_table(profile);
  if (!routines.rows.empty()) text += to_text(routines, format) + "\n";
  text += to_text(sums_table(profile), format);
  if (const std::string sum = accounted_text(profile, setting.peaks); !sum.empty()) {
    text += "\n" + sum + "\n";
  }
  return text + network_text(profile, setting.peaks) + estimates_text(profile);
}

}  // namespace

Table steps_table(const Profile& profile) {
  using enum Table::Align;
  Table table;
  table.columns = {{"step"},
                   {"kernel"},
                   {"group", right},
                   {"host us", right},
                   {"enqueue us", right},
                   {"device us", right},
                   {"estimate us", right},
                   {"kFLOP", right},
                   {"KiB", right},
                   {"GFLOP/s", right},
                   {"of peak", right},
                   {"GB/s", right},
                   {"of memory", right},
                   {"bound by"}};
  for (const ProfiledStep& step : profile.steps) {
    table.rows.push_back(
        {step.info.name, step.info.kernel,
         on_host(step) ? "host" : work_group_text(step.info.local),
         fmt::format("{:.1f}", step.host_us), fmt::format("{:.1f}", step.enqueue_us),
         number_text(step.device_us, 1), fmt::format("{:.1f}", step.info.estimated_us),
         fmt::format("{:.1f}", static_cast<double>(step.info.flop) / 1e3),
         fmt::format("{:.1f}", static_cast<double>(step.info.logical_bytes) / 1024),
         rate_text(step.arithmetic), peak_percent_text(step.arithmetic), rate_text(step.memory),
         peak_percent_text(step.memory), step.bound_by});
  }
  return table;
}

Table formats_table(const Profile& profile) {
  Table table;
  table.columns = {{"step"}, {"formats of its operands"}};
  for (const ProfiledStep& step : profile.steps) {
    table.rows.push_back({step.info.name, formats_text(step.info)});
  }
  return table;
}

Table routines_table(const Profile& profile) {
  Table table;
  table.columns = {{"step"}, {"routine of a library"}, {"device us", Table::Align::right}};
  for (const ProfiledStep& step : profile.steps) {
    for (const CallTime& call : step.calls) {
      table.rows.push_back({step.info.name, call.routine, fmt::format("{:.1f}", call.device_us)});
    }
  }
  return table;
}

Table sums_table(const Profile& profile) {
  std::optional<double> around_ms;
  if (profile.gap_ms) around_ms = *profile.gap_ms - *profile.between_ms;
  Table table;
  table.columns = {{"whole run"}, {"clock"}, {"ms", Table::Align::right}};
  table.rows = {
      {"sum of the steps", "device", number_text(profile.steps_ms, 3)},
      {"between the steps", "device", number_text(profile.between_ms, 3)},
      {"before the first step and behind the last", "host - device", number_text(around_ms, 3)},
      {"end to end, steps measured", "host", number_text(profile.end_to_end_ms, 3)},
      {"enqueuing, at the same time as the steps", "host", number_text(profile.enqueue_ms, 3)}};
  if (profile.on_host_ms) {
    table.rows.push_back({"steps on the host and what they wait for, part of enqueuing", "host",
                          number_text(profile.on_host_ms, 3)});
  }
  table.rows.push_back({"end to end, nothing measured", "host", number_text(profile.plain_ms, 3)});
  return table;
}

std::string accounted_text(const Profile& profile, const RooflinePeaks& peaks) {
  if (!profile.steps_ms || peaks.launch_us <= 0.0) return "";
  const auto launches = std::ranges::count_if(
      profile.steps, [](const ProfiledStep& step) { return step.device_us.has_value(); });
  const double sum_ms = *profile.steps_ms + 1e-3 * peaks.launch_us * static_cast<double>(launches);
  const double share = sum_ms / profile.end_to_end_ms;
  std::string text =
      fmt::format("The steps and {} launches of {:.2f} us make {:.3f} ms, {:.0f} % of end to end.",
                  launches, peaks.launch_us, sum_ms, 100.0 * share);
  if (std::abs(1.0 - share) <= kAccounted) return text;
  return text + (share < 1.0 ? " The rest is waiting, between the steps and around them."
                             : " Launches cost less here, where the next is enqueued in time.");
}

std::string report_of(const Profile& profile, const ProfileSetting& setting, Format format) {
  if (for_people(format)) return text_of(profile, setting, format);
  return to_text(format == Format::csv ? steps_json(profile) : json_of(profile, setting), format);
}

std::string layers_of(const Profile& profile, Format format) {
  return to_text(steps_json(profile), format);
}

}  // namespace morton::cli
