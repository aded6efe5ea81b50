// SPDX-License-Identifier: Apache-2.0
//
// States of a session: what runs renew, and what they fill.
#include "api/session/session_state.hpp"
#include "api/session/tensor_front.hpp"
#include "base/error.hpp"
#include "base/shape.hpp"

namespace morton {
using namespace api;

namespace {

/// The state's shape with another extent along `dimension`.
Shape with_extent(Shape shape, std::size_t dimension, std::int64_t extent) {
  shape[dimension] = extent;
  return shape;
}

Tensor count_of(std::int64_t extent) { return Tensor::from({1}, std::vector{extent}); }

}  // namespace

Tensor Session::get_state(const std::string& name) {
  const ValueId value = state_->runner->state(name);
  Tensor tensor = tensor_of(*state_->runner, value);
  state_->runner->read(value, tensor);
  const auto growing = growing_state(state_->growths(), name);
  if (!growing) return tensor;
  return front_of(tensor,
                  with_extent(tensor.shape(), growing->dimension, state_->grown.extent(name)));
}

void Session::set_state(const std::string& name, const Tensor& value) {
  Runner& runner = *state_->runner;
  const ValueId id = runner.state(name);
  if (const auto growing = growing_state(state_->growths(), name)) {
    const Shape& full = runner.loaded().plan().values[id].arrangement.tensor_shape;
    const std::size_t dimension = growing->dimension;
    const bool fits = value.shape().size() == full.size() &&
                      value.shape()[dimension] <= full[dimension] &&
                      with_extent(value.shape(), dimension, full[dimension]) == full;
    if (!fits) {
      throw UsageError("session: state '" + name + "' is set to shape " + to_string(value.shape()) +
                       "; it has " + to_string(full) + ", and may be shorter along dimension " +
                       std::to_string(dimension));
    }
    runner.write(id, with_zeros_behind(value, full));
    const std::int64_t extent = value.shape()[dimension];
    runner.write(runner.state(growing->growth->state), count_of(extent));
    state_->grown.set_extent(name, extent);
    return;
  }
  for (const Growth& growth : state_->growths()) {
    if (growth.state != name || value.size() != 1) continue;
    const auto count = static_cast<std::int64_t>(value.at(0));
    if (count < 0 || count > growth.capacity) {
      throw UsageError("session: state '" + name + "' is set to " + std::to_string(count) +
                       "; it counts from 0 to " + std::to_string(growth.capacity));
    }
    runner.write(id, value);
    state_->grown.set_count(growth, count);
    return;
  }
  runner.write(id, value);
}

void Session::empty_full_states() {
  if (!state_->grown.is_full(state_->growths())) return;
  for (const Growth& growth : state_->growths()) {
    state_->runner->write(state_->runner->state(growth.state), count_of(0));
    state_->grown.set_count(growth, 0);
  }
}

}  // namespace morton
