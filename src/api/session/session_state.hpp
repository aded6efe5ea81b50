// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "api/compile/compiled_state.hpp"
#include "api/inside.hpp"
#include "base/rooms.hpp"
#include "morton/session.hpp"
#include "run/runner.hpp"

namespace morton {

struct Session::State {
  CompiledModel model;
  SessionOptions options;
  std::unique_ptr<Runner> runner;
  /// What made the final plan, which may still build what other models need.
  std::shared_ptr<const Successor> behind{};
  /// What states that runs fill (CompiledState::growths) count, by their names; 0 where none is.
  std::map<std::string, std::int64_t> grown{};

  /// Counts another run. Throws UsageError where a state is full.
  void count_run();
};

namespace api {

[[nodiscard]] inline OpenClDevice::QueueKind queue_kind(const SessionOptions& options) {
  return options.profiling == SessionOptions::Profiling::on ? OpenClDevice::QueueKind::profiling
                                                            : OpenClDevice::QueueKind::plain;
}

[[nodiscard]] inline std::unique_ptr<Runner> make_runner(const CompiledModel& model,
                                                         const SessionOptions& options) {
  return std::make_unique<Runner>(Inside::of(model)->loaded, queue_kind(options));
}

}  // namespace api
}  // namespace morton
