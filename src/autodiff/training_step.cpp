// SPDX-License-Identifier: Apache-2.0
#include "autodiff/training_step.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "autodiff/batch_in_front.hpp"
#include "autodiff/conditional_updates.hpp"
#include "autodiff/gradients.hpp"
#include "autodiff/optimizers.hpp"
#include "autodiff/parameters.hpp"
#include "autodiff/recomputation.hpp"
#include "autodiff/training_form.hpp"
#include "base/error.hpp"
#include "base/numbers/checked.hpp"
#include "base/shape.hpp"
#include "passes/pipeline.hpp"

namespace morton::autodiff {
namespace {

/// With the batch in front: the passes that give every tensor its shape, then those that write out
/// what is composed of other operators, and nothing more.
WrittenOut with_shapes(const Graph& model, const TrainingStepOptions& wanted) {
  WrittenOut graphs;
  Graph& graph = graphs.model;
  graph = model;
  PassOptions options;
  options.batch = wanted.batch;
  options.shapes = wanted.shapes;
  if (has_batch_last(graph)) {
    put_batch_in_front(graph);
    for (auto& [input, shape] : options.shapes) std::ranges::reverse(shape);
  }
  const auto passes = all_passes();
  const auto last = std::ranges::find(passes, "expand_composites", &Pass::name);
  options.end = static_cast<std::size_t>(last - passes.begin());
  run_passes(graph, options);
  for (const TensorId id : graph.inputs) {
    GraphTensor& input = graph.tensor(id);
    input.declared.clear();
    for (const std::int64_t extent : input.shape) input.declared.push_back({extent, ""});
  }
  graphs.expanded = graph;
  options.begin = options.end++;
  run_passes(graphs.expanded, options);
  return graphs;
}

std::vector<std::string> names_of(const Graph& graph, const std::vector<TensorId>& ids) {
  std::vector<std::string> names;
  for (const TensorId id : ids) names.push_back(graph.tensor(id).name);
  return names;
}

/// Whether the pattern is all of the name: `*` stands for any text, `?` for one character.
bool matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0;
  // Behind the last `*`, and where what it stands for ends so far: one character more is tried
  // where the rest does not fit. Earlier ones need no second try.
  std::size_t behind_star = std::string_view::npos, end_of_star = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      behind_star = ++p;
      end_of_star = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (behind_star != std::string_view::npos) {
      p = behind_star;
      n = ++end_of_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

/// Splits the parameters into those to train and those that a pattern freezes.
struct Parameters {
  std::vector<TensorId> trained, frozen;
};

Parameters chosen(const WrittenOut& graphs, const std::vector<std::string>& patterns) {
  const Graph& graph = graphs.expanded;
  Parameters parameters;
  std::set<std::string> unmatched(patterns.begin(), patterns.end());
  const std::vector<TensorId> all = parameters_of(graphs);
  for (const TensorId id : all) {
    bool freezes = false;
    for (const std::string& pattern : patterns) {
      if (!matches(pattern, graph.tensor(id).name)) continue;
      freezes = true;
      unmatched.erase(pattern);
    }
    (freezes ? parameters.frozen : parameters.trained).push_back(id);
  }
  if (!unmatched.empty()) {
    std::string known;
    for (const std::string& name : names_of(graph, all)) {
      known += (known.empty() ? "" : ", ") + name;
    }
    throw UsageError(setting("freeze") + ": no parameter is named '" + *unmatched.begin() +
                     "'; there are " + (known.empty() ? "none" : known));
  }
  if (parameters.trained.empty()) {
    throw UsageError(all.empty() ? "train: the model has no parameters"
                                 : "train: all parameters are frozen; nothing is left to train");
  }
  return parameters;
}

void require_one_port(const Graph& graph) {
  if (graph.inputs.size() == 1 && graph.outputs.size() == 1) {
    const GraphTensor& input = graph.tensor(graph.inputs[0]);
    if (input.dtype == DType::f32) return;
    throw UsageError("train: the input '" + input.name + "' is " +
                     std::string(morton::name_of(input.dtype)) +
                     "; a model that is trained takes f32");
  }
  throw UsageError("train: the model has " + std::to_string(graph.inputs.size()) + " inputs and " +
                   std::to_string(graph.outputs.size()) +
                   " outputs; a model that is trained has one of each");
}

/// The first extent of input and output counts the examples.
void require_rows(const Graph& graph, std::int64_t batch) {
  for (const TensorId id : {graph.inputs[0], graph.outputs[0]}) {
    const GraphTensor& port = graph.tensor(id);
    if (!port.shape.empty() && port.shape[0] == batch) continue;
    throw UsageError("train: '" + port.name + "' is " + to_string(port.shape) + " for a batch of " +
                     std::to_string(batch) + "; its first extent must be the batch");
  }
}

/// Adds the input that holds the targets of the graph's output.
TensorId add_target(Graph& graph, TargetKind kind) {
  const TargetType type = target_type(graph.tensor(graph.outputs[0]).shape, kind);
  GraphTensor target;
  target.name = kTargetInput;
  target.kind = GraphTensor::Kind::input;
  target.dtype = type.dtype;
  target.shape = type.shape;
  for (const std::int64_t extent : type.shape) target.declared.push_back({extent, ""});
  const TensorId id = graph.add_tensor(std::move(target));
  graph.inputs.push_back(id);
  return id;
}

/// A tensor that a caller reads has a name that it knows.
void add_output(Graph& graph, TensorId id, const char* name) {
  if (id == kNoTensor) return;
  graph.tensor(id).name = name;
  graph.outputs.push_back(id);
}

LossTensors add_loss_of_output(Graph& graph, const TrainingStepOptions& options) {
  const TensorId output = graph.outputs[0];
  const TensorId target = add_target(graph, options.targets);
  return add_loss(graph, options.loss, {output, target});
}

void make_states(Graph& graph, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    GraphTensor& tensor = graph.tensor(graph.find(name));
    tensor.kind = GraphTensor::Kind::state;
    tensor.shape = tensor.data.shape();
  }
}

void clip_and_update(Graph& graph, const TrainingStepOptions& options, TensorId overflow,
                     std::vector<Learned>& learned) {
  if (options.clip_norm) clip_gradients(graph, *options.clip_norm, learned);
  const std::size_t first = graph.updates.size();
  add_updates(graph, options.optimizer, learned);
  if (overflow != kNoTensor) hold_updates(graph, first, overflow);
}

/// The graph that renews the parameters from their gradients, which the step adds up in states.
void take_update_apart(TrainingStep& made, const TrainingStepOptions& options,
                       std::vector<Learned> learned) {
  Graph& update = made.update;
  update.name = made.step.name;
  accumulate_gradients(made.step, learned);
  for (Learned& one : learned) {
    GraphTensor parameter = made.step.tensor(one.parameter);
    parameter.kind = GraphTensor::Kind::state;
    GraphTensor gradient;
    gradient.name = parameter.name + kGradientSuffix;
    gradient.kind = GraphTensor::Kind::input;
    gradient.dtype = parameter.dtype;
    gradient.shape = parameter.shape;
    for (const std::int64_t extent : gradient.shape) gradient.declared.push_back({extent, ""});
    one.parameter = update.add_tensor(std::move(parameter));
    one.gradient = update.add_tensor(std::move(gradient));
    update.inputs.push_back(one.gradient);
  }
  const bool scales = options.loss_scale == TrainingStepOptions::LossScale::given;
  const TensorId overflow = scales ? count_not_finite(update, learned) : kNoTensor;
  clip_and_update(update, options, overflow, learned);
  add_output(update, overflow, kOverflowOutput);
}

/// Gradients and updates of the parameters; those that the loss does not depend on are left out.
/// Returns how many elements of the gradients overflowed, where the loss is scaled.
TensorId add_descent(TrainingStep& made, TensorId loss, const std::vector<TensorId>& parameters,
                     const TrainingStepOptions& options) {
  Graph& graph = made.step;
  const bool scales = options.loss_scale == TrainingStepOptions::LossScale::given;
  const std::int64_t rows =
      options.examples == 0 ? graph.tensor(loss).shape.at(0) : options.examples;
  const std::int64_t examples = checked_mul(rows, options.accumulate, "examples of an update");
  const TensorId factor = scales ? add_scalar_input(graph, kLossScaleInput, DType::f32) : kNoTensor;
  const auto gradients =
      add_gradients(graph, loss, parameters, 1.0 / static_cast<double>(examples), factor);
  std::vector<Learned> learned;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    auto& names = gradients[i] == kNoTensor ? made.frozen : made.trained;
    names.push_back(graph.tensor(parameters[i]).name);
    if (gradients[i] != kNoTensor) learned.push_back({parameters[i], gradients[i]});
  }
  if (learned.empty()) throw UsageError("train: the output depends on no parameter");
  if (scales) {
    add_scalar_input(graph, kUnscaleInput, DType::f32);
    unscale_gradients(graph, learned);
  }
  if (options.accumulate > 1 || options.update == TrainingStepOptions::Update::apart) {
    take_update_apart(made, options, std::move(learned));
    return kNoTensor;
  }
  const TensorId overflow = scales ? count_not_finite(graph, learned) : kNoTensor;
  clip_and_update(graph, options, overflow, learned);
  return overflow;
}

}  // namespace

TrainingStep make_training_step(const Graph& model, const TrainingStepOptions& options) {
  require_one_port(model);
  TrainingStep made;
  const WrittenOut graphs = with_shapes(model, options);
  made.step = graphs.expanded;
  require_rows(made.step, options.batch);
  made.evaluation = made.step;
  const Parameters parameters = chosen(graphs, options.freeze);
  made.frozen = names_of(made.step, parameters.frozen);
  const AmbiguousParameters ambiguous = ambiguous_parameters(graphs);
  made.scalar_constants = names_of(made.step, ambiguous.numbers);
  to_training_form(made.step, [&](TensorId id) {
    return std::ranges::find(parameters.trained, id) != parameters.trained.end();
  });
  for (const StateUpdate& update : made.step.updates) {
    made.statistics.push_back(made.step.tensor(update.state).name);
  }
  const LossTensors loss = add_loss_of_output(made.step, options);
  make_states(made.step, names_of(made.step, parameters.trained));
  const std::size_t forward_nodes = made.step.nodes.size();
  made.step.outputs.clear();
  const TensorId overflow = add_descent(made, loss.rows, parameters.trained, options);
  add_output(made.step, loss.rows, kLossOutput);
  add_output(made.step, loss.right, kRightOutput);
  add_output(made.step, overflow, kOverflowOutput);
  for (const std::string& name : names_of(made.step, ambiguous.scales)) {
    if (std::ranges::find(made.trained, name) != made.trained.end()) {
      made.ambiguous_scales.push_back(name);
    }
  }
  if (options.activations == TrainingStepOptions::Activations::recompute) {
    (void)recompute(made.step, forward_nodes);
  }

  const LossTensors in_use = add_loss_of_output(made.evaluation, options);
  add_output(made.evaluation, in_use.rows, kLossOutput);
  add_output(made.evaluation, in_use.right, kRightOutput);
  make_states(made.evaluation, made.trained);
  make_states(made.evaluation, made.statistics);
  verify(made.step, "as a training step");
  verify(made.evaluation, "for evaluation");
  if (!made.update.inputs.empty()) verify(made.update, "as an update");
  return made;
}

}  // namespace morton::autodiff
