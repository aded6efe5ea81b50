// SPDX-License-Identifier: Apache-2.0
#include "morton/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "api/inside.hpp"
#include "api/session/lent_inputs.hpp"
#include "api/training/trainer_options.hpp"
#include "autodiff/conditional_updates.hpp"
#include "autodiff/form_of_use.hpp"
#include "autodiff/optimizers.hpp"
#include "autodiff/training_form.hpp"
#include "autodiff/training_step.hpp"
#include "base/error.hpp"
#include "base/shape.hpp"
#include "base/text/number_text.hpp"
#include "graph/graph.hpp"
#include "training/loop/step_progress.hpp"

namespace morton {
using namespace api;
namespace {

constexpr const char* kProgressName = "morton.progress";

CompiledModel compiled(const Graph& graph, const Device& device, const TrainerOptions& options) {
  return compile(Inside::make(graph), device, step_compile_options(options));
}

/// Labels of rows that count must be those of classes.
void require_labels(const Tensor& labels, std::int64_t rows, std::int64_t classes) {
  const auto values = labels.as<std::int32_t>();
  for (std::size_t i = 0; i < std::min(values.size(), static_cast<std::size_t>(rows)); ++i) {
    if (values[i] >= 0 && values[i] < classes) continue;
    throw UsageError("train: row " + std::to_string(i) + " has the label " +
                     std::to_string(values[i]) + ", expected 0 to " + std::to_string(classes - 1));
  }
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

struct Trainer::State {
  State(const Model& given, const Device& on, const TrainerOptions& with)
      : model(Inside::make(in_form_of_use(Inside::of(given)))),
        device(on),
        options(with),
        made(make_training_step(Inside::of(model), training_step_options(with))),
        session(compiled(made.step, on, with)),
        progress(with, made.step.find(kOverflowOutput) != kNoTensor) {}

  Model model;
  Device device;
  TrainerOptions options;
  TrainingStep made;
  Session session;
  std::optional<Session> evaluation;  ///< made when it is first asked for
  bool evaluation_is_current = false;
  StepProgress progress;
  TrainingSummary summary;
  std::map<std::string, double> scalars;  ///< the scalar inputs as the device has them

  /// Names of all that a step renews, in the step's order.
  [[nodiscard]] std::vector<std::string> renewed() const {
    std::vector<std::string> names;
    for (const StateUpdate& update : made.step.updates) {
      names.push_back(made.step.tensor(update.state).name);
    }
    return names;
  }

  [[nodiscard]] bool has_labels() const { return made.step.find(kRightOutput) != kNoTensor; }
  [[nodiscard]] std::int64_t classes() const {
    if (!has_labels()) return 0;
    return made.evaluation.tensor(made.evaluation.outputs.front()).shape.at(1);
  }

  void summarize() {
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
    summary.doubtful_scales = made.doubtful_scales;
    summary.stated_numbers = made.stated_numbers;
    std::int64_t renewed_bytes = 0;
    for (const std::string& name : renewed()) {
      renewed_bytes +=
          static_cast<std::int64_t>(made.step.tensor(made.step.find(name)).data.bytes());
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

  void set_scalar(const char* input, double value) {
    if (made.step.find(input) == kNoTensor) return;
    const auto [known, added] = scalars.try_emplace(input, value);
    if (!added && known->second == value) return;
    session.set_input(input, scalar(value));
    known->second = value;
  }

  void set_rates(double rate) {
    set_scalar(kRateInput, rate);
    const OptimizerOptions& optimizer = options.optimizer;
    const auto t = static_cast<double>(progress.updates() + 1);
    set_scalar(kCorrection1Input, 1.0 / (1.0 - std::pow(optimizer.beta1, t)));
    set_scalar(kCorrection2Input, 1.0 / std::sqrt(1.0 - std::pow(optimizer.beta2, t)));
    set_scalar(kApplyInput, progress.applies() ? 1.0 : 0.0);
    set_scalar(kLossScaleInput, progress.loss_scale());
    set_scalar(kUnscaleInput, 1.0 / progress.loss_scale());
    if (made.step.find(kDropoutInput) != kNoTensor) {
      Tensor key = Tensor::allocate(DType::u32, {});
      const std::uint64_t number =
          mixed(mixed(options.seed) + static_cast<std::uint64_t>(progress.steps()));
      key.as_mutable<std::uint32_t>()[0] = static_cast<std::uint32_t>(number >> 32U);
      session.set_input(kDropoutInput, key);
    }
  }

  /// The loss and the right answers of the first `rows` rows, as a session's outputs have them.
  [[nodiscard]] BatchResult result_of(const std::vector<Tensor>& outputs, std::int64_t rows) const {
    BatchResult result;
    result.rows = rows;
    result.loss = sum_of(outputs.at(0), rows) / static_cast<double>(rows);
    if (has_labels()) result.right = std::llround(sum_of(outputs.at(1), rows));
    return result;
  }
  [[nodiscard]] std::vector<std::string> names_of_results() const {
    std::vector<std::string> names{kLossOutput};
    if (has_labels()) names.emplace_back(kRightOutput);
    return names;
  }

  Session& current_evaluation() {
    if (!evaluation) evaluation.emplace(compiled(made.evaluation, device, options));
    if (!evaluation_is_current) {
      for (const auto& names : {made.trained, made.statistics}) {
        for (const std::string& name : names) {
          evaluation->set_state(name, session.get_state(name));
        }
      }
      evaluation_is_current = true;
    }
    return *evaluation;
  }

  [[nodiscard]] std::string model_input() const {
    return made.step.tensor(made.step.inputs.front()).name;
  }
};

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
  return step_model().plan_text(detail, printer);
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
  if (state.has_labels()) require_labels(targets, state.options.batch, state.classes());
  state.set_rates(learning_rate);
  state.session.enqueue();
  state.evaluation_is_current = false;
  std::vector<std::string> names = state.names_of_results();
  const bool may_overflow = state.made.step.find(kOverflowOutput) != kNoTensor;
  if (may_overflow) names.emplace_back(kOverflowOutput);
  const std::vector<Tensor> outputs = state.session.get_outputs(names);
  lent.all_returned();
  BatchResult result = state.result_of(outputs, state.options.batch);
  result.update = state.progress.count(may_overflow && outputs.back().at(0) != 0.0);
  return result;
}

std::int64_t Trainer::steps_done() const { return state_->progress.steps(); }

double Trainer::loss_scale() const { return state_->progress.loss_scale(); }

BatchResult Trainer::evaluate(const Tensor& inputs, const Tensor& targets, std::int64_t rows,
                              Tensor* predictions) {
  State& state = *state_;
  if (rows < 1 || rows > state.options.batch) {
    throw UsageError("evaluate: " + std::to_string(rows) + " rows of a batch of " +
                     std::to_string(state.options.batch));
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
      learned.tensor(learned.find(name)).data = state_->session.get_state(name);
    }
  }
  return Inside::make(std::move(learned));
}

std::vector<NamedTensor> Trainer::state() {
  std::vector<NamedTensor> tensors;
  for (const std::string& name : state_->renewed()) {
    tensors.push_back({name, state_->session.get_state(name)});
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
    const GraphTensor& own = state_->made.step.tensor(state_->made.step.find(name));
    const Tensor& tensor = find(name);
    if (tensor.shape() == own.data.shape() && tensor.dtype() == own.dtype) continue;
    throw UsageError("train: '" + name + "' is " + to_string(tensor.shape()) + ", expected " +
                     to_string(own.data.shape()) + ": it belongs to another model");
  }
  StepProgress progress = state_->progress;
  progress.restore(find(kProgressName));
  for (const std::string& name : renewed) state_->session.set_state(name, find(name));
  state_->progress = progress;
  state_->evaluation_is_current = false;
}

void Trainer::set_profiling(SessionOptions::Profiling profiling) {
  state_->session.set_profiling(profiling);
}

std::vector<StepTime> Trainer::step_times() { return state_->session.step_times(); }

}  // namespace morton
