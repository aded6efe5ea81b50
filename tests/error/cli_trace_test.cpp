// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "error/cli_program.hpp"
#include "error/trace_schema.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

json name_of_track(const char* what, int process, int thread) {
  return {
      {"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", {{"name", "x"}}}};
}

json trace_slice(double start, double duration, int thread = 1) {
  return {{"ph", "X"},     {"name", "s"}, {"cat", "host"},  {"pid", 1},
          {"tid", thread}, {"ts", start}, {"dur", duration}};
}

json small_trace() {
  return {{"displayTimeUnit", "ns"},
          {"traceEvents",
           {name_of_track("process_name", 1, 1), name_of_track("thread_name", 1, 1),
            trace_slice(0.0, 10.0), trace_slice(0.0, 4.0), trace_slice(4.0, 6.0)}}};
}

TEST(TraceSchema, TellsWhatIsWrong) {
  EXPECT_THAT(wrong_in_trace(small_trace()), IsEmpty());
  const auto with = [](const json& event) {
    json trace = small_trace();
    trace["traceEvents"].push_back(event);
    return wrong_in_trace(trace);
  };
  EXPECT_THAT(with(trace_slice(9.0, 3.0)), Contains(HasSubstr("crosses the end")));
  EXPECT_THAT(with(trace_slice(3.0, 1.0)), Contains(HasSubstr("begins before")));
  EXPECT_THAT(with(trace_slice(9.0, -1.0)), Contains(HasSubstr("wrong dur")));
  EXPECT_THAT(with(trace_slice(std::numeric_limits<double>::quiet_NaN(), 1.0)),
              Contains(HasSubstr("wrong ts")));
  EXPECT_THAT(with(trace_slice(9.0, 1.0, 2)), Contains(HasSubstr("has no thread_name")));
  json event = trace_slice(9.0, 1.0);
  event.erase("dur");
  EXPECT_THAT(with(event), Contains(HasSubstr("lacks dur")));
  event = trace_slice(9.0, 1.0);
  event["pid"] = "host";
  EXPECT_THAT(with(event), Contains(HasSubstr("wrong pid")));
  event = trace_slice(9.0, 1.0);
  event["duration"] = 1.0;
  EXPECT_THAT(with(event), Contains(HasSubstr("unknown member duration")));
  event["ph"] = "B";
  EXPECT_THAT(with(event), Contains(HasSubstr("neither X nor M")));
  EXPECT_THAT(wrong_in_trace(json::array()), Contains(HasSubstr("no list traceEvents")));
  EXPECT_THAT(wrong_in_trace({{"traceEvents", json::array()}}),
              Contains(HasSubstr("has no slices")));
}

TEST(CliTrace, HoldsToTheFormat) {
  const TemporaryFolder cache;
  onnx::ModelProto model = model_with_input({3, 17});
  add_weights(model, "w", {17, 5});
  add_node(model, "MatMul", {"x", "w"}, "y");
  const std::string path = (cache.path() / "trace.json").string();
  const Outcome outcome =
      run_program({"profile", save(model, cache.path() / "a \"quoted\" <product>.onnx"), "-n", "5",
                   "--format", "json", "--trace", path, "--cache-dir", cache.path().string()});
  ASSERT_GE(outcome.status, 0) << outcome.text();
  const json report = json::parse(outcome.out);
  const json trace = json::parse(read_bytes(path));
  EXPECT_THAT(wrong_in_trace(trace), IsEmpty());
  std::size_t on_host = 0;
  std::size_t on_device = 0;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") (event["pid"] == 1 ? on_host : on_device) += 1;
  }
  // The run, its enqueuing and its wait; the steps' frame.
  EXPECT_EQ(on_host, report["steps"].size() + 3);
  if (!report["clocks"]["device_sum_ms"].is_null()) {
    EXPECT_EQ(on_device, report["steps"].size() + 1);
  }
}

}  // namespace
}  // namespace morton::test
