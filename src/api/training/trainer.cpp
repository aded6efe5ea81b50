// SPDX-License-Identifier: Apache-2.0
#include "morton/trainer.hpp"

#include <algorithm>
#include <limits>

#include "api/inside.hpp"
#include "api/session/lent_inputs.hpp"
#include "api/training/trainer_options.hpp"
#include "api/training/trainer_state.hpp"
#include "autodiff/conditional_updates.hpp"
#include "autodiff/training_form.hpp"
#include "base/error.hpp"
#include "base/shape.hpp"
#include "base/text/number_text.hpp"
#include "graph/graph.hpp"

namespace morton {
using namespace api;
namespace {

constexpr const char* kProgressName = "morton.progress";

/// Labels of rows that count must be those of classes.
void require_labels(const Tensor& labels, std::int64_t rows, std::int64_t classes) {
  const auto values = labels.as<std::int32_t>();
  for (std::size_t i = 0; i < std::min(values.size(), static_cast<std::size_t>(rows)); ++i) {
    if (values[i] >= 0 && values[i] < classes) continue;
    throw UsageError("train: row " + std::to_string(i) + " has the label " +
                     std::to_string(values[i]) + ", expected 0 to " + std::to_string(classes - 1));
  }
}

}  // namespace

Trainer::Trainer(const Model& model, const Device& device, const TrainerOptions& options) {
  check_trainer_options(options);
  state_ = std::make_unique<State>(model, device, options);
  state_->summarize();
}

Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;
Trainer::~Trainer() = default;

PortInfo Trainer::input() const { return step_model().inputs().front(); }

PortInfo Trainer::target() const {
  const auto inputs = step_model().inputs();
  return *std::ranges::find(inputs, kTargetInput, &PortInfo::name);
}

std::int64_t Trainer::classes() const { return state_->classes(); }

const TrainingSummary& Trainer::summary() const { return state_->summary; }

const TrainerOptions& Trainer::options() const { return state_->options; }

std::string Trainer::plan_text(CompiledModel::Detail detail, SettingPrinter printer) const {
  std::string text = step_model().plan_text(detail, printer);
  if (state_->apart) text += "\n" + state_->apart->session().model().plan_text(detail, printer);
  return text;
}

const CompiledModel& Trainer::step_model() const { return state_->session.model(); }

BatchResult Trainer::step(const Tensor& inputs, const Tensor& targets, double learning_rate) {
  State& state = *state_;
  // The device computes in f32.
  if (!(learning_rate >= 0.0 && learning_rate <= std::numeric_limits<float>::max())) {
    throw UsageError("train: the learning rate is " + exact_text(learning_rate) +
                     ", expected a number from 0 on that f32 can hold");
  }
  LentInputs lent(state.session);
  lent.set(state.model_input(), inputs);
  lent.set(kTargetInput, targets);
  if (state.has_labels()) require_labels(targets, state.rows(), state.classes());
  state.set_rates(learning_rate);
  state.session.enqueue();
  state.evaluation_is_current = false;
  std::vector<std::string> names = state.names_of_results();
  const bool may_overflow = state.made.step.find(kOverflowOutput) != kNoTensor;
  if (may_overflow) names.emplace_back(kOverflowOutput);
  const std::vector<Tensor> outputs = state.session.get_outputs(names);
  lent.all_returned();
  BatchResult result = state.result_of(outputs, state.rows());
  bool overflowed = may_overflow && outputs.back().at(0) != 0.0;
  if (state.ranks.are_several()) result = state.of_all_ranks(result);
  if (state.apart && state.progress.applies()) {
    overflowed = state.apart->renew(state.session, state.ranks);
  }
  result.update = state.progress.count(overflowed);
  return result;
}

std::int64_t Trainer::steps_done() const { return state_->progress.steps(); }

double Trainer::loss_scale() const { return state_->progress.loss_scale(); }

BatchResult Trainer::evaluate(const Tensor& inputs, const Tensor& targets, std::int64_t rows,
                              Tensor* predictions) {
  State& state = *state_;
  if (rows < 1 || rows > state.rows()) {
    throw UsageError("evaluate: " + std::to_string(rows) + " rows of a batch of " +
                     std::to_string(state.rows()));
  }
  Session& session = state.current_evaluation();
  LentInputs lent(session);
  lent.set(state.model_input(), inputs);
  lent.set(kTargetInput, targets);
  if (state.has_labels()) require_labels(targets, rows, state.classes());
  session.enqueue();
  const BatchResult result = state.result_of(session.get_outputs(state.names_of_results()), rows);
  lent.all_returned();
  if (predictions != nullptr) {
    *predictions = session.get_output(session.model().outputs().front().name);
  }
  return result;
}

Model Trainer::model() {
  Graph learned = Inside::of(state_->model);
  for (const auto& names : {state_->made.trained, state_->made.statistics}) {
    for (const std::string& name : names) {
      learned.tensor(learned.find(name)).data = state_->session_of(name).get_state(name);
    }
  }
  return Inside::make(std::move(learned));
}

std::vector<NamedTensor> Trainer::state() {
  std::vector<NamedTensor> tensors;
  for (const std::string& name : state_->renewed()) {
    tensors.push_back({name, state_->session_of(name).get_state(name)});
  }
  tensors.push_back({kProgressName, state_->progress.saved()});
  return tensors;
}

void Trainer::set_state(const std::vector<NamedTensor>& given) {
  const auto renewed = state_->renewed();
  const auto find = [&](const std::string& name) -> const Tensor& {
    const auto found = std::ranges::find(given, name, &NamedTensor::name);
    if (found == given.end()) {
      throw UsageError("train: the state has no '" + name +
                       "': it belongs to another model or optimizer");
    }
    return found->tensor;
  };
  if (given.size() != renewed.size() + 1) {
    throw UsageError("train: the state has " + std::to_string(given.size()) +
                     " tensors, expected " + std::to_string(renewed.size() + 1) +
                     ": it belongs to another model or optimizer");
  }
  // All are looked at before any is taken.
  for (const std::string& name : renewed) {
    const GraphTensor& own = state_->tensor_of(name);
    const Tensor& tensor = find(name);
    if (tensor.shape() == own.data.shape() && tensor.dtype() == own.dtype) continue;
    throw UsageError("train: '" + name + "' is " + to_string(tensor.shape()) + ", expected " +
                     to_string(own.data.shape()) + ": it belongs to another model");
  }
  StepProgress progress = state_->progress;
  progress.restore(find(kProgressName));
  for (const std::string& name : renewed) {
    state_->session_of(name).set_state(name, find(name));
  }
  state_->progress = progress;
  state_->evaluation_is_current = false;
}

void Trainer::set_profiling(SessionOptions::Profiling profiling) {
  state_->session.set_profiling(profiling);
}

std::vector<StepTime> Trainer::step_times() { return state_->session.step_times(); }

}  // namespace morton
