// SPDX-License-Identifier: Apache-2.0
#include "run/run_segments.hpp"

#include "common/log.hpp"
#include "common/option_names.hpp"
#include "common/options.hpp"

namespace morton::cli {

SegmentsAnswer run_in_segments(const GivenModel& model, const std::vector<Device>& devices,
                               const CompileOptions& compile, const RunSteps& steps,
                               std::int64_t most_turns, const std::vector<NamedTensor>& inputs,
                               const NeedsSegments& error) {
  const auto refuse = [&](const char* what) {
    throw UnsupportedError(Message(what) + ": the host must wait in a run: " + error.message());
  };
  if (compile.fallback == CompileOptions::Fallback::refuse) refuse("--strict");
  if (devices.size() != 1) refuse("--device: several devices cannot share the model");
  if (!steps.feeds.empty()) refuse("--feed: nothing can be fed back");
  if (steps.count != 1) refuse("--steps: there can be one alone");
  SegmentOptions limits;
  limits.most_turns = most_turns;
  SegmentedSession session(model.network(), devices.front(), compile, limits);
  SegmentsAnswer answer{session.run(inputs), session.report()};
  for (const Wait& wait : answer.report.waits) {
    const std::string often = wait.times == 1 ? "once" : fmt::format("{} times", wait.times);
    log::info("the host waited {}: {}", often, with_options(wait.why));
  }
  for (const Message& line : answer.report.fallbacks) log::warn("{}", with_options(line));
  log::info("segments: {} plans made, {} kernels built", answer.report.plans,
            answer.report.built_kernels);
  return answer;
}

}  // namespace morton::cli
