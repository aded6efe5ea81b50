// SPDX-License-Identifier: Apache-2.0
//
// A session that goes on with another plan, or on another device.
#include "api/compile/carry_out.hpp"
#include "api/session/session_state.hpp"
#include "base/error.hpp"

namespace morton {
using namespace api;

namespace {

/// Brings what the caller has set, and the states, from one runner to another of the same model.
void carry_over(Runner& from, const std::vector<PortInfo>& inputs, Runner& to) {
  from.wait();
  for (const PortInfo& port : inputs) {
    const ValueId there = from.input(port.name);
    const ValueId here = to.input(port.name);
    if (!from.is_set(there)) {
      to.forget(here);
      continue;
    }
    Tensor tensor = Tensor::allocate(port.dtype, port.shape);
    from.read(there, tensor);
    to.write(here, tensor);
  }
  for (const Port& port : from.loaded().plan().states) {
    const ValueId there = from.state(port.name);
    Tensor whole = tensor_of(from, there);
    from.read(there, whole);
    to.write(to.state(port.name), whole);
  }
}

/// Where no final plan came, says so once, or throws where the model is not to fall back.
void tell_of_failure(const CompiledState& interim, const Successor& successor) {
  const Message problem = successor.take_problem();
  if (problem.empty()) return;
  const Message text = "the interim plan stays, for there is no final one: " + problem;
  if (interim.fallback == CompileOptions::Fallback::refuse) throw UnsupportedError(text);
  if (interim.log) interim.log(text);
}

}  // namespace

void Session::go_over(const CompiledModel& to) {
  auto runner = make_runner(to, state_->options);
  carry_over(*state_->runner, Inside::of(state_->model)->inputs, *runner);
  state_->model = to;
  state_->runner = std::move(runner);
}

void Session::take_final_plan() {
  const auto& successor = Inside::of(state_->model)->successor;
  if (successor == nullptr || state_->runner->is_mapped() ||
      state_->runner->uses_callers_objects()) {
    return;
  }
  const auto final = successor->ready();
  if (final == nullptr) return tell_of_failure(*Inside::of(state_->model), *successor);
  state_->behind = successor;
  if (final->log) {
    for (const Message& note : final->report.notes) final->log(note);
  }
  go_over(Inside::make(final));
}

void Session::move_to(const Device& device) {
  if (state_->runner->is_mapped()) {
    throw UsageError("session: unmap inputs and outputs before moving to another device");
  }
  if (state_->runner->uses_callers_objects()) {
    throw UsageError(
        "session: a caller's queue or buffer cannot move to another device; give the session its "
        "own back first (use_queue and bind_buffer with null)");
  }
  if (!Inside::of(state_->model)->model) {
    throw UsageError(
        "session: a model from a compiled file cannot move to another device; load the model "
        "itself and compile it");
  }
  const CompiledModel moved = Inside::make(carry_out_anew(*Inside::of(state_->model), device));
  try {
    go_over(moved);
  } catch (const DeviceError& error) {
    // The device that it leaves may have failed: weights come from the model, and inputs can be set
    // again.
    const Runner& left = *state_->runner;
    if (!left.loaded().plan().states.empty()) {
      throw DeviceError(
          "session: the model has states, and the device that has them no longer gives them: " +
          error.message() + "; make another session on " + device.id() + ", and set its states");
    }
    auto runner = make_runner(moved, state_->options);
    for (const PortInfo& port : Inside::of(moved)->inputs) runner->forget(runner->input(port.name));
    state_->model = moved;
    state_->runner = std::move(runner);
  }
}

}  // namespace morton
