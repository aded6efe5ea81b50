// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "run/profile_clocks.hpp"
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
  events.push_back(slice(kHost, "wait", end_us, std::max(0.0, profile.fastest_run_us - end_us)));
}

/// The device's steps. A thread's slices may not cross: where the driver says that two steps ran at
/// once, the later one is on a further thread.
class DeviceTracks {
 public:
  /// The thread of a step from `start_ns` to `end_ns`; steps come in the order of their starts.
  int take(std::int64_t start_ns, std::int64_t end_ns) {
    std::size_t track = 0;
    while (track < ends_.size() && ends_[track] > start_ns) ++track;
    if (track == ends_.size()) ends_.push_back(0);
    ends_[track] = end_ns;
    return static_cast<int>(track) + 1;
  }
  [[nodiscard]] int count() const { return static_cast<int>(ends_.size()); }

 private:
  std::vector<std::int64_t> ends_;
};

void add_device(const Profile& profile, Json& events) {
  const ClockPair clocks(profile.fastest_run);
  if (!clocks.is_known()) return;
  std::vector<std::size_t> order;
  for (std::size_t s = 0; s < profile.fastest_run.size(); ++s) {
    if (profile.fastest_run[s].device_span) order.push_back(s);
  }
  const auto start_of = [&](std::size_t s) { return profile.fastest_run[s].device_span->start_ns; };
  std::ranges::stable_sort(order, std::ranges::less(), start_of);
  std::int64_t end_ns = start_of(order.front());
  for (const std::size_t s : order) {
    end_ns = std::max(end_ns, profile.fastest_run[s].device_span->end_ns);
  }
  events.push_back(slice(kDevice, "steps", clocks.host_us(start_of(order.front())),
                         static_cast<double>(end_ns - start_of(order.front())) / 1e3));
  DeviceTracks tracks;
  for (const std::size_t s : order) {
    const StepTime& time = profile.fastest_run[s];
    const StepSpan& span = *time.device_span;
    const StepInfo& info = profile.steps[s].info;
    events.push_back(slice(kDevice, time.name, clocks.host_us(span.start_ns),
                           static_cast<double>(span.end_ns - span.start_ns) / 1e3));
    events.back()["tid"] = tracks.take(span.start_ns, span.end_ns);
    events.back()["args"] = {{"kernel", time.kernel},
                             {"formats", info.formats},
                             {"flop", info.flop},
                             {"bytes", info.logical_bytes},
                             {"bound_by", profile.steps[s].bound_by}};
  }
  for (int track = 1; track <= tracks.count(); ++track) {
    events.push_back(name_event(
        "thread_name", kDevice,
        track == 1 ? "kernels, device's clock" : "kernels at the same time, device's clock"));
    events.back()["tid"] = track;
  }
}

}  // namespace

std::string trace_of(const Profile& profile, const ProfileSetting& setting) {
  Json events = Json::array();
  events.push_back(name_event("process_name", kHost, "host"));
  events.push_back(name_event("thread_name", kHost, "queue's user, host's clock"));
  events.push_back(name_event("process_name", kDevice, setting.device));
  add_host(profile, events);
  add_device(profile, events);
  const Json trace = {{"displayTimeUnit", "ns"},
                      {"otherData", {{"model", setting.model}, {"device", setting.device}}},
                      {"traceEvents", events}};
  return to_text(trace, Format::json);
}

}  // namespace morton::cli
