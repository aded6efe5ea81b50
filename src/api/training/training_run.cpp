// SPDX-License-Identifier: Apache-2.0
#include "morton/training_run.hpp"

#include <algorithm>
#include <utility>

#include "api/inside.hpp"
#include "autodiff/training_form.hpp"
#include "base/files/file.hpp"
#include "base/text/number_text.hpp"
#include "training/files/checkpoint.hpp"
#include "training/loop/fixed_part.hpp"
#include "training/loop/training_loop.hpp"

namespace morton {
using namespace api;
namespace {

std::string_view name_of(OptimizerOptions::Kind kind) {
  switch (kind) {
    case OptimizerOptions::Kind::sgd:
      return "sgd";
    case OptimizerOptions::Kind::adam:
      return "adam";
    case OptimizerOptions::Kind::adamw:
      return "adamw";
    case OptimizerOptions::Kind::rmsprop:
      break;
  }
  return "rmsprop";
}

std::string_view name_of(Loss loss) {
  switch (loss) {
    case Loss::softmax_cross_entropy:
      return "softmax cross entropy";
    case Loss::binary_cross_entropy:
      return "binary cross entropy";
    case Loss::mean_squared_error:
      return "mean squared error";
    case Loss::mean_absolute_error:
      break;
  }
  return "mean absolute error";
}

std::string optimizer_text(const OptimizerOptions& optimizer) {
  std::string text(name_of(optimizer.kind));
  if (optimizer.form == OptimizerOptions::Momentum::nesterov) text += " nesterov";
  for (const auto& [name, value] :
       {std::pair("momentum", optimizer.momentum), std::pair("beta1", optimizer.beta1),
        std::pair("beta2", optimizer.beta2), std::pair("decay", optimizer.decay),
        std::pair("epsilon", optimizer.epsilon),
        std::pair("weight decay", optimizer.weight_decay)}) {
    text += std::string(", ") + name + " " + exact_text(value);
  }
  return text;
}

/// A trainer as the loop leads it.
class TrainerLearner : public Learner {
 public:
  explicit TrainerLearner(Trainer& trainer)
      : trainer_(trainer),
        model_(trainer.model()),
        ranks_(trainer.options().ranks, trainer.options().batch) {}

  PortInfo input() const override { return trainer_.input(); }
  PortInfo target() const override { return trainer_.target(); }
  BatchResult step(const Tensor& inputs, const Tensor& targets, double learning_rate) override {
    return trainer_.step(inputs, targets, learning_rate);
  }
  BatchResult evaluate(const Tensor& inputs, const Tensor& targets, std::int64_t rows) override {
    return trainer_.evaluate(inputs, targets, rows);
  }
  std::vector<NamedTensor> state() override { return trainer_.state(); }
  void set_state(const std::vector<NamedTensor>& state) override { trainer_.set_state(state); }

  Ranks& ranks() override { return ranks_; }
  std::int64_t accumulate() const override { return trainer_.options().accumulate; }
  std::int64_t classes() const override { return trainer_.classes(); }
  std::vector<std::string> trained() const override {
    std::vector<std::string> names;
    for (const TrainingSummary::Parameter& parameter : trainer_.summary().parameters) {
      if (parameter.role == TrainingSummary::Parameter::Role::trained) {
        names.push_back(parameter.name);
      }
    }
    return names;
  }
  std::vector<std::string> parameters() const override {
    std::vector<std::string> names;
    for (const TrainingSummary::Parameter& parameter : trainer_.summary().parameters) {
      if (parameter.role != TrainingSummary::Parameter::Role::frozen) {
        names.push_back(parameter.name);
      }
    }
    return names;
  }
  std::int64_t program_builds() const override {
    return trainer_.step_model().device().program_builds();
  }
  std::map<std::string, std::string> settings() const override {
    const TrainerOptions& options = trainer_.options();
    std::string trained_names;
    for (const std::string& name : trained()) trained_names += name + "\n";
    std::map<std::string, std::string> settings{
        {"optimizer", optimizer_text(options.optimizer)},
        {"loss", std::string(name_of(options.loss))},
        {"clipping", options.clip_norm ? exact_text(*options.clip_norm) : "none"},
        {"steps of an update", std::to_string(options.accumulate)},
        {"precision", std::string(name_of(options.compile.precision.operands))},
        {kFixedPart, fixed_part_digest(Inside::of(model_), parameters())},
        {kTrainedNames, digest_of(trained_names)}};
    const auto inputs = trainer_.step_model().inputs();
    if (std::ranges::find(inputs, kDropoutInput, &PortInfo::name) != inputs.end()) {
      settings["seed of dropout"] = std::to_string(options.seed);
    }
    return settings;
  }
  std::string plan_digest() const override { return trainer_.step_model().steps_digest(); }
  const Graph& graph() const override { return Inside::of(model_); }

 private:
  Trainer& trainer_;
  Model model_;
  Ranks ranks_;
};

}  // namespace

void check_options(const TrainingRunOptions& options) { check_run_options(options); }

void check_options(const TrainingRunOptions& options, const TrainerOptions& trainer,
                   const Shape& input, const Dataset& training, const Dataset* validation) {
  check_run_options(options);
  check_examples(options, {trainer.batch, trainer.accumulate, input}, training, validation);
}

TrainingReport train(Trainer& trainer, const Dataset& training, const Dataset* validation,
                     const TrainingRunOptions& options) {
  TrainerLearner learner(trainer);
  return TrainingLoop(learner, training, validation, options).run();
}

BatchResult evaluate(Trainer& trainer, const Dataset& data, const TrainingRunOptions& options) {
  TrainerLearner learner(trainer);
  require_labels_for(learner, data);
  const ExampleWriter examples(data, trainer.input().shape, {options.mean, options.deviation});
  Tensor inputs = Tensor::allocate(DType::f32, trainer.input().shape);
  Tensor targets = Tensor::allocate(trainer.target().dtype, trainer.target().shape);
  return evaluate_all(learner, examples, inputs, targets);
}

}  // namespace morton
