// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "api/compile/compiled_state.hpp"
#include "api/inside.hpp"
#include "api/session/grown_states.hpp"
#include "base/rooms.hpp"
#include "morton/session.hpp"
#include "run/runner.hpp"

namespace morton {

struct Session::State {
  CompiledModel model;
  SessionOptions options;
  std::unique_ptr<run::Runner> runner;
  /// What made the final plan, which may still build what other models need.
  std::shared_ptr<const api::Successor> behind{};
  api::GrownStates grown{};

  [[nodiscard]] const std::vector<api::Growth>& growths() const {
    return api::Inside::of(model)->growths;
  }
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

/// A host tensor of a value's type and shape, for reading it.
[[nodiscard]] inline Tensor tensor_of(const Runner& runner, ValueId value) {
  const Arrangement& arrangement = runner.loaded().plan().values[value].arrangement;
  return Tensor::allocate(arrangement.dtype, arrangement.tensor_shape);
}

}  // namespace api
}  // namespace morton
