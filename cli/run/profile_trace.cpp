// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "run/profile_report.hpp"

namespace morton::cli {
namespace {

constexpr int kHost = 1;
constexpr int kDevice = 2;

/// What a track is called in the viewer.
Json name_event(const char* what, int process, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", 1}, {"args", {{"name", name}}}};
}

/// A stretch of time; the format's unit is the microsecond.
Json slice(int process, const std::string& name, double start_us, double duration_us) {
  return {{"ph", "X"},         {"name", name}, {"cat", process == kHost ? "host" : "device"},
          {"pid", process},    {"tid", 1},     {"ts", start_us},
          {"dur", duration_us}};
}

void add_host(const Profile& profile, Json& events) {
  events.push_back(slice(kHost, "run", 0.0, profile.fastest_run_us));
  double end_us = 0.0;
  for (const StepTime& time : profile.fastest_run) end_us = time.enqueued_at_us + time.enqueue_us;
  events.push_back(slice(kHost, "enqueue", 0.0, end_us));
  for (const StepTime& time : profile.fastest_run) {
    events.push_back(slice(kHost, time.name, time.enqueued_at_us, time.enqueue_us));
    events.back()["args"] = {{"kernel", time.kernel}};
  }
  events.push_back(slice(kHost, "wait", end_us, profile.fastest_run_us - end_us));
}

/// Host's microseconds at the device's `ns`: both clocks saw the first step being enqueued.
double on_host_clock(std::int64_t ns, const StepTime& first) {
  const StepSpan& span = *first.device_span;
  const std::int64_t zero_ns = span.enqueued_ns != 0 ? span.enqueued_ns : span.start_ns;
  return first.enqueued_at_us + static_cast<double>(ns - zero_ns) / 1e3;
}

void add_device(const Profile& profile, Json& events) {
  const StepTime* first = nullptr;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  for (const StepTime& time : profile.fastest_run) {
    if (!time.device_span) continue;
    if (first == nullptr) {
      first = &time;
      start_ns = time.device_span->start_ns;
    }
    start_ns = std::min(start_ns, time.device_span->start_ns);
    end_ns = std::max(end_ns, time.device_span->end_ns);
  }
  if (first == nullptr) return;
  const auto add = [&](const std::string& name, std::int64_t start, std::int64_t end) {
    events.push_back(
        slice(kDevice, name, on_host_clock(start, *first), static_cast<double>(end - start) / 1e3));
  };
  add("steps", start_ns, end_ns);
  for (std::size_t s = 0; s < profile.fastest_run.size(); ++s) {
    const StepTime& time = profile.fastest_run[s];
    if (!time.device_span) continue;
    add(time.name, time.device_span->start_ns, time.device_span->end_ns);
    const StepInfo& info = profile.steps[s].info;
    events.back()["args"] = {{"kernel", time.kernel},
                             {"formats", info.formats},
                             {"flop", info.flop},
                             {"bytes", info.logical_bytes},
                             {"bound_by", profile.steps[s].bound_by}};
  }
}

}  // namespace

std::string trace_of(const Profile& profile, const ProfileSetting& setting) {
  Json events = Json::array();
  events.push_back(name_event("process_name", kHost, "host"));
  events.push_back(name_event("thread_name", kHost, "queue's user, host's clock"));
  events.push_back(name_event("process_name", kDevice, setting.device));
  events.push_back(name_event("thread_name", kDevice, "kernels, device's clock"));
  add_host(profile, events);
  add_device(profile, events);
  const Json trace = {{"displayTimeUnit", "ns"},
                      {"otherData", {{"model", setting.model}, {"device", setting.device}}},
                      {"traceEvents", events}};
  return to_text(trace, Format::json);
}

}  // namespace morton::cli
