// SPDX-License-Identifier: Apache-2.0
#include "api/training/update_apart.hpp"

#include <algorithm>
#include <utility>

#include "api/session/lent_inputs.hpp"
#include "api/session/session_state.hpp"
#include "autodiff/conditional_updates.hpp"

namespace morton::api {
namespace {

/// Pieces of the buffer begin at multiples of so many elements, where processors' kernels can read
/// them without a copy.
constexpr std::int64_t kPieceStep = 256;

std::int64_t room_of(const Tensor& tensor) {
  return (tensor.size() + kPieceStep - 1) / kPieceStep * kPieceStep;
}

/// The parameter is where the update has it, for both.
void share_parameter(Session& update, Session& step, const std::string& name) {
  Runner& owner = *Inside::of(update).runner;
  Runner& reader = *Inside::of(step).runner;
  reader.bind(reader.state(name), owner.memory_of(owner.state(name)));
}

/// The sum of gradients is where the step has it, for both.
void share_gradient(Session& step, Session& update, const std::string& name) {
  Runner& owner = *Inside::of(step).runner;
  Runner& reader = *Inside::of(update).runner;
  reader.bind(reader.input(name + kGradientSuffix),
              owner.memory_of(owner.state(name + kAccumulatedSuffix)));
}

}  // namespace

UpdateApart::UpdateApart(const TrainingStep& made, Session& step, CompiledModel update,
                         const Ranks& ranks)
    : update_(std::move(update)), may_overflow_(made.update.find(kOverflowOutput) != kNoTensor) {
  for (const StateUpdate& renewed : made.update.updates) {
    states_.push_back(made.update.tensor(renewed.state).name);
  }
  for (const std::string& name : made.trained) share_parameter(update_, step, name);
  if (ranks.are_several()) {
    make_buffer(made);
    return;
  }
  for (const std::string& name : made.trained) share_gradient(step, update_, name);
}

void UpdateApart::make_buffer(const TrainingStep& made) {
  const auto data_of = [&](const std::string& name) -> const Tensor& {
    return made.step.tensor(made.step.find(name)).data;
  };
  std::int64_t size = 0;
  for (const auto* names : {&made.trained, &made.statistics}) {
    for (const std::string& name : *names) size += room_of(data_of(name));
  }
  buffer_ = Tensor::allocate(DType::f32, {size});
  std::ranges::fill(buffer_.as_mutable<float>(), 0.0F);
  float* next = buffer_.as_mutable<float>().data();
  const auto part = [&](const Tensor& like) {
    Tensor values = Tensor::borrow(DType::f32, like.shape(), next, like.bytes());
    next += room_of(like);
    return values;
  };
  for (const std::string& name : made.trained) {
    gradients_.push_back({name + kAccumulatedSuffix, name + kGradientSuffix, part(data_of(name))});
  }
  gradient_values_ = static_cast<std::size_t>(next - buffer_.as_mutable<float>().data());
  for (const std::string& name : made.statistics) {
    statistics_.push_back({name, "", part(data_of(name))});
  }
}

bool UpdateApart::has(const std::string& state) const {
  return std::ranges::find(states_, state) != states_.end();
}

void UpdateApart::read_pieces(Session& step) {
  Runner& runner = *Inside::of(step).runner;
  std::vector<ValueId> values;
  std::vector<Tensor> tensors;
  for (const auto* pieces : {&gradients_, &statistics_}) {
    for (const Piece& piece : *pieces) {
      values.push_back(runner.state(piece.state));
      tensors.push_back(piece.values);
    }
  }
  runner.read(values, tensors);
}

void UpdateApart::weight_statistics(const Ranks& ranks) {
  const auto rows = static_cast<double>(ranks.batch());
  const auto weight = static_cast<float>(static_cast<double>(ranks.share().count) / rows);
  for (Piece& piece : statistics_) {
    for (float& value : piece.values.as_mutable<float>()) value *= weight;
  }
}

bool UpdateApart::renew(Session& step, Ranks& ranks) {
  LentInputs lent(update_);
  if (ranks.are_several()) {
    read_pieces(step);
    weight_statistics(ranks);
    ranks.sum(buffer_.as_mutable<float>(), gradient_values_);
    for (const Piece& piece : statistics_) step.set_state(piece.state, piece.values);
    for (const Piece& piece : gradients_) lent.set(piece.input, piece.values);
  }
  const Event done = update_.enqueue();
  bool overflowed = false;
  if (may_overflow_) overflowed = update_.get_output(kOverflowOutput).at(0) != 0.0;
  // The next step reads the parameters in another queue.
  done.wait();
  if (ranks.are_several()) lent.all_returned();
  return overflowed;
}

}  // namespace morton::api
