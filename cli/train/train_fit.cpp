// SPDX-License-Identifier: Apache-2.0
#include "train/train_fit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/inputs.hpp"
#include "common/log.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

/// Reals that should be labels are told before anything is built.
void check_shares(const Dataset& data, std::int64_t classes, const TrainOptions& options) {
  const Shape& shape = data.targets.shape();
  const bool one_each = shape.size() == 1 || (shape.size() == 2 && shape[1] == 1);
  if (options.trainer.loss != Loss::softmax_cross_entropy || classes < 2 || !one_each) return;
  throw UsageError(
      fmt::format("{}: its targets are one real for each example; softmax-cross-entropy takes "
                  "labels, which are "
                  "integers (y.astype('int64')), or {} shares, one for each class",
                  data.where, classes));
}

/// Ports as a training has them: with the batch in front, also where R17's form has it last.
PortInfo trained(PortInfo port) {
  if (port.shape.size() != 2 || batch_dimension(port) != 1) return port;
  std::ranges::reverse(port.shape);
  std::ranges::reverse(port.symbols);
  return port;
}

/// Of other models no extent may be taken for the batch.
void require_batch(const Model& model) {
  const std::vector<PortInfo> inputs = model.inputs();
  const std::vector<PortInfo> outputs = model.outputs();
  if (inputs.size() != 1 || outputs.size() != 1) return;  // the trainer says so
  const PortInfo input = trained(inputs.front());
  const PortInfo output = trained(outputs.front());
  const auto first = [](const PortInfo& port) { return port.shape.empty() ? -1 : port.shape[0]; };
  const bool elsewhere = batch_dimension(input) != 0;
  const bool apart = first(input) >= 0 && first(output) >= 0 && first(input) != first(output);
  if (!elsewhere && !apart) return;
  throw UsageError(
      fmt::format("the model makes '{}' {} of '{}' {}: a model that is trained has the batch in "
                  "front of both, or "
                  "is of matrices whose last extent is called 'batch'",
                  output.name, shape_text(outputs.front().shape, outputs.front().symbols),
                  input.name, shape_text(inputs.front().shape, inputs.front().symbols)));
}

}  // namespace

void settle_batch(const Model& model, TrainOptions& options) {
  require_batch(model);
  const std::optional<std::int64_t> fixed = fixed_batch(model.inputs(), options.batch);
  if (fixed) log::info("batches of {}, as the model's file fixes them", *fixed);
  options.trainer.batch = fixed.value_or(options.batch > 0 ? options.batch : kUsualBatch);
}

void settle_shape(const Examples& examples, const Model& model, TrainOptions& options) {
  const std::vector<PortInfo> inputs = model.inputs();
  if (inputs.size() != 1) return;
  if (batch_dimension(inputs.front()) != 0) return;
  const Shape& stated = inputs.front().shape;
  Shape shape = shape_for(examples.training, stated);
  if (shape == stated) return;
  shape[0] = options.trainer.batch;
  options.trainer.compile.shapes[inputs.front().name] = shape;
}

void check_course(const Examples& examples, const Model& model, const TrainOptions& options) {
  const Dataset* validation = examples.validation ? &*examples.validation : nullptr;
  if (validation == nullptr && (options.run.patience > 0 || options.run.test_every > 0)) {
    throw UsageError(fmt::format(
        "{} looks at validation data, and {} has no test part: hold back a share of the training "
        "examples, as --validation 0.1",
        options.run.patience > 0 ? "--patience" : "--test-every", examples.training.where));
  }
  Shape input;
  if (const std::vector<PortInfo> inputs = model.inputs(); inputs.size() == 1) {
    const auto& shapes = options.trainer.compile.shapes;
    const auto settled = shapes.find(inputs[0].name);
    input = settled == shapes.end() ? trained(inputs[0]).shape : settled->second;
    if (!input.empty()) input[0] = options.trainer.batch;
  }
  check_options(options.run, options.trainer, input, examples.training, validation);
}

void check_labels(const Examples& examples, const Model& model, const TrainOptions& options) {
  const std::vector<PortInfo> outputs = model.outputs();
  if (outputs.size() != 1) return;
  const Shape shape = trained(outputs.front()).shape;
  if (shape.size() < 2 || shape[1] < 1) return;
  if (!examples.training.has_labels()) return check_shares(examples.training, shape[1], options);
  if (shape[1] == 1 && options.trainer.loss == Loss::softmax_cross_entropy) {
    throw UsageError(
        "the network has one output: --loss binary-cross-entropy (for labels 0 and 1), mse or l1");
  }
  // Of one output the label itself is the target, 0 or 1.
  const bool single = options.trainer.loss != Loss::softmax_cross_entropy && shape[1] == 1;
  const std::int64_t classes = single ? 2 : shape[1];
  require_labels_below(examples.training, classes);
  if (examples.validation) require_labels_below(*examples.validation, classes);
  if (examples.test) require_labels_below(*examples.test, classes);
  if (!single && examples.training.classes < classes) {
    log::info(
        "the network tells {} classes apart, and the data have {}: --classes {} gives it a last "
        "layer "
        "for these",
        classes, examples.training.classes, examples.training.classes);
  }
}

}  // namespace morton::cli
