// SPDX-License-Identifier: Apache-2.0
//
// A session that goes on with another plan, or on another device.
#include "api/compile/carry_out.hpp"
#include "api/session/session_state.hpp"
#include "base/error.hpp"

namespace morton {
using namespace api;

namespace {

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
  state_->runner->wait();
  const CompiledState& compiled = *Inside::of(state_->model);
  auto runner = make_runner(to, state_->options);
  for (const auto& port : compiled.inputs) {
    const ValueId from = state_->runner->input(port.name);
    const ValueId input = runner->input(port.name);
    if (!state_->runner->is_set(from)) {
      runner->forget(input);
      continue;
    }
    Tensor tensor = Tensor::allocate(port.dtype, port.shape);
    state_->runner->read(from, tensor);
    runner->write(input, tensor);
  }
  for (const Port& port : state_->runner->loaded().plan().states) {
    const ValueId from = state_->runner->state(port.name);
    Tensor whole = tensor_of(*state_->runner, from);
    state_->runner->read(from, whole);
    runner->write(runner->state(port.name), whole);
  }
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
  go_over(Inside::make(carry_out_anew(*Inside::of(state_->model), device)));
}

}  // namespace morton
