// SPDX-License-Identifier: Apache-2.0
#include "error/trace_schema.hpp"

#include <cmath>
#include <map>
#include <set>

namespace morton::test {
namespace {

using nlohmann::json;

/// Ends are sums of two rounded numbers; in microseconds.
constexpr double kRounding = 1e-3;

enum class Kind { text, whole, time, object };

/// One member of an event.
struct Member {
  const char* name;
  Kind kind;
  bool is_required;
};

const std::vector<Member> kSlice{{"ph", Kind::text, true},   {"name", Kind::text, true},
                                 {"cat", Kind::text, true},  {"pid", Kind::whole, true},
                                 {"tid", Kind::whole, true}, {"ts", Kind::time, true},
                                 {"dur", Kind::time, true},  {"args", Kind::object, false}};
const std::vector<Member> kMetadata{{"ph", Kind::text, true},
                                    {"name", Kind::text, true},
                                    {"pid", Kind::whole, true},
                                    {"tid", Kind::whole, true},
                                    {"args", Kind::object, true}};

bool is_of(const json& value, Kind kind) {
  switch (kind) {
    case Kind::text:
      return value.is_string() && !value.get<std::string>().empty();
    case Kind::whole:
      return value.is_number_integer() && value.get<std::int64_t>() >= 0;
    case Kind::time:
      return value.is_number() && std::isfinite(value.get<double>()) && value.get<double>() >= 0.0;
    case Kind::object:
      return value.is_object();
  }
  return false;
}

class Checker {
 public:
  std::vector<std::string> check(const json& trace) {
    if (!trace.is_object() || !trace.contains("traceEvents") || !trace["traceEvents"].is_array()) {
      return {"the trace has no list traceEvents"};
    }
    for (const auto& [key, value] : trace.items()) {
      if (key == "traceEvents" || (key == "otherData" && value.is_object())) continue;
      if (key == "displayTimeUnit" && (value == "ms" || value == "ns")) continue;
      wrong("the trace", "has a member " + key + " that the format does not know");
    }
    for (const json& event : trace["traceEvents"]) look(event);
    for (const auto& [thread, open] : open_) {
      if (!processes_.contains(thread.first)) wrong(thread_text(thread), "has no process_name");
      if (!threads_.contains(thread)) wrong(thread_text(thread), "has no thread_name");
    }
    if (open_.empty()) wrong("the trace", "has no slices");
    return wrong_;
  }

 private:
  using Thread = std::pair<std::int64_t, std::int64_t>;

  void look(const json& event) {
    const bool is_slice = event.is_object() && event.value("ph", "") == "X";
    const bool is_metadata = event.is_object() && event.value("ph", "") == "M";
    if (!is_slice && !is_metadata) return wrong(event.dump(), "is neither X nor M");
    if (!has_members(event, is_slice ? kSlice : kMetadata)) return;
    const Thread thread{event["pid"], event["tid"]};
    if (is_slice) return nest(event, thread);
    const std::string name = event["name"];
    if (!event["args"].contains("name") || !is_of(event["args"]["name"], Kind::text)) {
      wrong(event.dump(), "names nothing");
    }
    if (name == "process_name") {
      processes_.insert(thread.first);
    } else if (name == "thread_name") {
      threads_.insert(thread);
    } else {
      wrong(event.dump(), "is metadata of an unknown kind");
    }
  }

  bool has_members(const json& event, const std::vector<Member>& members) {
    std::set<std::string> known;
    const std::size_t before = wrong_.size();
    for (const Member& member : members) {
      known.insert(member.name);
      if (!event.contains(member.name)) {
        if (member.is_required) wrong(event.dump(), std::string("lacks ") + member.name);
      } else if (!is_of(event[member.name], member.kind)) {
        wrong(event.dump(), std::string("has a wrong ") + member.name);
      }
    }
    for (const auto& [key, value] : event.items()) {
      if (!known.contains(key)) wrong(event.dump(), "has an unknown member " + key);
    }
    return wrong_.size() == before;
  }

  /// Keeps the stack of the slices that are open on the thread.
  void nest(const json& event, const Thread& thread) {
    const double start = event["ts"];
    const double end = start + event["dur"].get<double>();
    if (const auto last = starts_.find(thread); last != starts_.end()) {
      if (start < last->second) wrong(event.dump(), "begins before the slice in front of it");
    }
    starts_[thread] = start;
    std::vector<double>& ends = open_[thread];
    while (!ends.empty() && ends.back() <= start + kRounding) ends.pop_back();
    if (!ends.empty() && end > ends.back() + kRounding) {
      wrong(event.dump(), "crosses the end of the slice around it");
    }
    ends.push_back(end);
  }

  static std::string thread_text(const Thread& thread) {
    return "thread " + std::to_string(thread.first) + ":" + std::to_string(thread.second);
  }
  void wrong(const std::string& what, const std::string& how) {
    wrong_.push_back(what + " " + how);
  }

  std::vector<std::string> wrong_;
  std::set<std::int64_t> processes_;
  std::set<Thread> threads_;
  std::map<Thread, double> starts_;
  std::map<Thread, std::vector<double>> open_;
};

}  // namespace

std::vector<std::string> wrong_in_trace(const json& trace) { return Checker().check(trace); }

}  // namespace morton::test
