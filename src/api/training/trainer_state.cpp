// SPDX-License-Identifier: Apache-2.0
#include "api/training/trainer_state.hpp"

#include <cmath>

#include "api/inside.hpp"
#include "api/training/trainer_options.hpp"
#include "autodiff/conditional_updates.hpp"
#include "autodiff/form_of_use.hpp"
#include "autodiff/optimizers.hpp"
#include "autodiff/training_form.hpp"
#include "base/error.hpp"
#include "graph/graph.hpp"
#include "training/loop/learner.hpp"

namespace morton {
using namespace api;
namespace {

CompiledModel compiled(const Graph& graph, const Device& device, const TrainerOptions& options) {
  return compile(Inside::make(graph), device, step_compile_options(options));
}

double sum_of(const Tensor& rows, std::int64_t count) {
  const auto values = rows.as<float>();
  double sum = 0.0;
  for (std::int64_t i = 0; i < count; ++i) sum += values[static_cast<std::size_t>(i)];
  return sum;
}

Tensor scalar(double value) {
  Tensor tensor = Tensor::allocate(DType::f32, {});
  tensor.set(0, value);
  return tensor;
}

/// Well mixed bits of a number (S. Vigna's splitmix64).
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

}  // namespace

Trainer::State::State(const Model& given, const Device& on, const TrainerOptions& with)
    : model(Inside::make(in_form_of_use(Inside::of(given)))),
      device(on),
      options(with),
      ranks(with.ranks, with.batch),
      made(make_training_step(Inside::of(model), training_step_options(with, ranks))),
      session(compiled(made.step, on, with)),
      progress(with, made.step.find(kLossScaleInput) != kNoTensor) {
  if (!made.update.inputs.empty()) {
    apart.emplace(made, session, compiled(made.update, on, with), ranks);
  }
}

void Trainer::State::summarize() {
  const auto add = [&](const std::vector<std::string>& names,
                       TrainingSummary::Parameter::Role role) {
    for (const std::string& name : names) {
      const GraphTensor& tensor = made.step.tensor(made.step.find(name));
      summary.parameters.push_back({name, tensor.data.shape(), role});
      summary.parameter_bytes += static_cast<std::int64_t>(tensor.data.bytes());
      if (role == TrainingSummary::Parameter::Role::trained) {
        summary.trained_elements += tensor.data.size();
      }
    }
  };
  add(made.trained, TrainingSummary::Parameter::Role::trained);
  add(made.frozen, TrainingSummary::Parameter::Role::frozen);
  add(made.statistics, TrainingSummary::Parameter::Role::statistics);
  summary.ambiguous_scales = made.ambiguous_scales;
  summary.scalar_constants = made.scalar_constants;
  std::int64_t renewed_bytes = 0;
  for (const std::string& name : renewed()) {
    renewed_bytes += static_cast<std::int64_t>(tensor_of(name).data.bytes());
  }
  for (const TrainingSummary::Parameter& one : summary.parameters) {
    if (one.role == TrainingSummary::Parameter::Role::frozen) continue;
    renewed_bytes -=
        static_cast<std::int64_t>(made.step.tensor(made.step.find(one.name)).data.bytes());
  }
  summary.optimizer_bytes = renewed_bytes;
  const CompileReport& report = session.model().report();
  summary.activation_bytes = report.memory.activation_bytes;
  summary.workspace_bytes = report.memory.workspace_bytes;
  summary.steps = static_cast<int>(session.model().steps().size());
}

void Trainer::State::set_scalar(const char* input, double value) {
  const bool of_step = made.step.find(input) != kNoTensor;
  if (!of_step && made.update.find(input) == kNoTensor) return;
  const auto [known, added] = scalars.try_emplace(input, value);
  if (!added && known->second == value) return;
  (of_step ? session : apart->session()).set_input(input, scalar(value));
  known->second = value;
}

void Trainer::State::set_rates(double rate) {
  set_scalar(kRateInput, rate);
  const OptimizerOptions& optimizer = options.optimizer;
  const auto t = static_cast<double>(progress.updates() + 1);
  set_scalar(kCorrection1Input, 1.0 / (1.0 - std::pow(optimizer.beta1, t)));
  set_scalar(kCorrection2Input, 1.0 / std::sqrt(1.0 - std::pow(optimizer.beta2, t)));
  set_scalar(kFreshInput, progress.begins() ? 1.0 : 0.0);
  set_scalar(kLossScaleInput, progress.loss_scale());
  set_scalar(kUnscaleInput, 1.0 / progress.loss_scale());
  if (made.step.find(kDropoutInput) != kNoTensor) {
    Tensor key = Tensor::allocate(DType::u32, {});
    // One process that accumulates takes the ranks' parts of a batch one after the other.
    const std::int64_t part = progress.steps() * ranks.size() + ranks.rank();
    const std::uint64_t number = mixed(mixed(options.seed) + static_cast<std::uint64_t>(part));
    key.as_mutable<std::uint32_t>()[0] = static_cast<std::uint32_t>(number >> 32U);
    session.set_input(kDropoutInput, key);
  }
}

BatchResult Trainer::State::result_of(const std::vector<Tensor>& outputs, std::int64_t rows) const {
  BatchResult result;
  result.rows = rows;
  result.loss = sum_of(outputs.at(0), rows) / static_cast<double>(rows);
  if (has_labels()) result.right = std::llround(sum_of(outputs.at(1), rows));
  return result;
}

std::vector<std::string> Trainer::State::names_of_results() const {
  std::vector<std::string> names{kLossOutput};
  if (has_labels()) names.emplace_back(kRightOutput);
  return names;
}

Session& Trainer::State::current_evaluation() {
  if (!evaluation) evaluation.emplace(compiled(made.evaluation, device, options));
  if (!evaluation_is_current) {
    for (const auto& names : {made.trained, made.statistics}) {
      for (const std::string& name : names) {
        evaluation->set_state(name, session_of(name).get_state(name));
      }
    }
    evaluation_is_current = true;
  }
  return *evaluation;
}

std::vector<std::string> Trainer::State::renewed() const {
  std::vector<std::string> names;
  for (const Graph* graph : {&made.step, &made.update}) {
    for (const StateUpdate& update : graph->updates) {
      const std::string& name = graph->tensor(update.state).name;
      // What each step adds up anew is nothing that the next one depends on.
      const bool is_kept = options.accumulate > 1 || !name.ends_with(kAccumulatedSuffix);
      if (is_kept) names.push_back(name);
    }
  }
  return names;
}

const GraphTensor& Trainer::State::tensor_of(const std::string& state) const {
  const bool of_update = apart && apart->has(state);
  const Graph& graph = of_update ? made.update : made.step;
  return graph.tensor(graph.find(state));
}

Session& Trainer::State::session_of(const std::string& state) {
  return apart && apart->has(state) ? apart->session() : session;
}

BatchResult Trainer::State::of_all_ranks(const BatchResult& own) {
  BatchResult sums = own;
  sums.loss *= static_cast<double>(own.rows);
  BatchResult whole = sum_over_ranks(ranks, sums);
  whole.loss /= static_cast<double>(whole.rows);
  return whole;
}

std::int64_t Trainer::State::classes() const {
  if (!has_labels()) return 0;
  return made.evaluation.tensor(made.evaluation.outputs.front()).shape.at(1);
}

std::string Trainer::State::model_input() const {
  return made.step.tensor(made.step.inputs.front()).name;
}

bool Trainer::State::has_labels() const { return made.step.find(kRightOutput) != kNoTensor; }

}  // namespace morton
