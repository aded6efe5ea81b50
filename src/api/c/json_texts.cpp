// SPDX-License-Identifier: Apache-2.0
//
// What the interface for C hands over as JSON; docs/c_api.md describes it.
#include "api/c/json_texts.hpp"

#include <nlohmann/json.hpp>
#include <optional>

using namespace morton;
using namespace morton::api;

namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson lines_of(const std::vector<Message>& messages) {
  OrderedJson lines = OrderedJson::array();
  for (const Message& message : messages) lines.push_back(message.print());
  return lines;
}

OrderedJson or_null(const std::optional<double>& value) {
  return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

const char* name_of_origin(CompileReport::PlanOrigin origin) {
  switch (origin) {
    case CompileReport::PlanOrigin::made:
      return "made";
    case CompileReport::PlanOrigin::kept:
      return "kept";
    case CompileReport::PlanOrigin::compiled_file:
      break;
  }
  return "compiled_file";
}

OrderedJson kernels_of(const CompileReport::Kernels& kernels) {
  return {{"from_memory", kernels.from_memory},
          {"from_disk", kernels.from_disk},
          {"built", kernels.built},
          {"compiled_objects", kernels.compiled_objects},
          {"for_other_shapes", kernels.for_other_shapes},
          {"tried", kernels.tried},
          {"unkept", kernels.unkept}};
}

OrderedJson memory_of(const CompileReport::Memory& memory) {
  return {{"weight_bytes", memory.weight_bytes},
          {"shared_weight_bytes", memory.shared_weight_bytes},
          {"activation_bytes", memory.activation_bytes},
          {"workspace_bytes", memory.workspace_bytes},
          {"largest_live_bytes", memory.largest_live_bytes},
          {"largest_live_activation_bytes", memory.largest_live_activation_bytes},
          {"largest_live_workspace_bytes", memory.largest_live_workspace_bytes}};
}

OrderedJson times_of(const CompileReport::Times& times) {
  return {{"passes_ms", times.passes_ms},   {"plan_ms", times.plan_ms},
          {"build_ms", times.build_ms},     {"upload_ms", times.upload_ms},
          {"warm_up_ms", times.warm_up_ms}, {"self_test_ms", times.self_test_ms}};
}

/// The span on the device's clock, or null.
OrderedJson span_of(const std::optional<StepSpan>& span) {
  if (!span) return nullptr;
  return {
      {"enqueued_ns", span->enqueued_ns}, {"start_ns", span->start_ns}, {"end_ns", span->end_ns}};
}

OrderedJson time_of(const StepTime& time) {
  OrderedJson calls = OrderedJson::array();
  for (const CallTime& call : time.calls) {
    calls.push_back({{"routine", call.routine}, {"device_us", call.device_us}});
  }
  return {{"name", time.name},
          {"kernel", time.kernel},
          {"place", time.place == StepInfo::Place::host ? "host" : "device"},
          {"device_us", or_null(time.device_us)},
          {"enqueue_us", time.enqueue_us},
          {"enqueued_at_us", time.enqueued_at_us},
          {"device_span", span_of(time.device_span)},
          {"routines", calls}};
}

/// A name or a path need not be UTF-8; what is not becomes U+FFFD.
std::string text_of(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace

std::string morton::api::devices_json(const std::vector<std::string>& devices,
                                      const std::vector<Message>& notes) {
  OrderedJson list = OrderedJson::array();
  for (const std::string& device : devices) list.push_back(OrderedJson::parse(device));
  return text_of({{"devices", list}, {"notes", lines_of(notes)}});
}

std::string morton::api::device_json(const std::string& facts, const std::vector<Message>& notes) {
  OrderedJson device = OrderedJson::parse(facts);
  device["notes"] = lines_of(notes);
  return text_of(device);
}

std::string morton::api::report_json(const CompileReport& report) {
  const bool is_interim = report.stage == CompileReport::Stage::interim;
  return text_of({{"plan", name_of_origin(report.plan)},
                  {"stage", is_interim ? "interim" : "final"},
                  {"why_ready", report.why_ready.print()},
                  {"kernels", kernels_of(report.kernels)},
                  {"times", times_of(report.times)},
                  {"memory", memory_of(report.memory)},
                  {"notes", lines_of(report.notes)},
                  {"fallbacks", lines_of(report.fallbacks)}});
}

std::string morton::api::step_times_json(const std::vector<StepTime>& times) {
  OrderedJson list = OrderedJson::array();
  for (const StepTime& time : times) list.push_back(time_of(time));
  return text_of(list);
}
