// SPDX-License-Identifier: Apache-2.0
#include "api/c/handles.hpp"
#include "api/c/versioned.hpp"
#include "morton/files.hpp"
#include "morton/trainer.hpp"

using namespace morton;
using namespace morton::api;

struct morton_trainer {
  morton_trainer(const Model& model, const Device& device, const TrainerOptions& options)
      : trainer(model, device, options), ports({trainer.input(), trainer.target()}) {}

  [[nodiscard]] Tensor inputs(const void* data, std::size_t bytes) const {
    return callers_tensor("input", *ports.find(trainer.input().name), data, bytes);
  }
  [[nodiscard]] Tensor targets(const void* data, std::size_t bytes) const {
    return callers_tensor("target", *ports.find(trainer.target().name), data, bytes);
  }

  Trainer trainer;
  PortTable ports;  ///< the input, then the target
};

namespace {

morton_optimizer_options usual_optimizer_options() {
  const OptimizerOptions usual;
  morton_optimizer_options options{};
  options.size = sizeof options;
  options.kind = static_cast<std::int32_t>(usual.kind);
  options.momentum = usual.momentum;
  options.beta1 = usual.beta1;
  options.beta2 = usual.beta2;
  options.decay = usual.decay;
  options.epsilon = usual.epsilon;
  options.weight_decay = usual.weight_decay;
  return options;
}

morton_trainer_options usual_trainer_options() {
  const TrainerOptions usual;
  morton_trainer_options options{};
  options.size = sizeof options;
  options.batch = usual.batch;
  options.accumulate = usual.accumulate;
  options.loss = static_cast<std::int32_t>(usual.loss);
  options.seed = usual.seed;
  options.loss_scale = usual.loss_scale;
  return options;
}

static_assert(static_cast<int>(Loss::softmax_cross_entropy) == MORTON_LOSS_SOFTMAX_CROSS_ENTROPY &&
              static_cast<int>(Loss::binary_cross_entropy) == MORTON_LOSS_BINARY_CROSS_ENTROPY &&
              static_cast<int>(Loss::mean_squared_error) == MORTON_LOSS_MEAN_SQUARED_ERROR &&
              static_cast<int>(Loss::mean_absolute_error) == MORTON_LOSS_MEAN_ABSOLUTE_ERROR);
static_assert(static_cast<int>(OptimizerOptions::Kind::sgd) == MORTON_OPTIMIZER_SGD &&
              static_cast<int>(OptimizerOptions::Kind::adam) == MORTON_OPTIMIZER_ADAM &&
              static_cast<int>(OptimizerOptions::Kind::adamw) == MORTON_OPTIMIZER_ADAMW &&
              static_cast<int>(OptimizerOptions::Kind::rmsprop) == MORTON_OPTIMIZER_RMSPROP);
static_assert(static_cast<int>(BatchResult::Update::applied) == MORTON_UPDATE_APPLIED &&
              static_cast<int>(BatchResult::Update::awaited) == MORTON_UPDATE_AWAITED &&
              static_cast<int>(BatchResult::Update::overflowed) == MORTON_UPDATE_OVERFLOWED);

/// The enumerator of this number, of those from 0 to `last`.
template <typename Enum>
Enum enumerator(std::int32_t value, Enum last, const char* what) {
  if (value >= 0 && value <= static_cast<std::int32_t>(last)) return static_cast<Enum>(value);
  throw UsageError(setting(what, std::to_string(value)) + ": expected 0 to " +
                   std::to_string(static_cast<int>(last)));
}

OptimizerOptions optimizer_of(const morton_optimizer_options* from) {
  const auto given = read_versioned(from, usual_optimizer_options(), "optimizer options");
  OptimizerOptions options;
  options.kind = enumerator(given.kind, OptimizerOptions::Kind::rmsprop, "kind");
  if (flag(given.nesterov, "nesterov")) options.form = OptimizerOptions::Momentum::nesterov;
  options.momentum = given.momentum;
  options.beta1 = given.beta1;
  options.beta2 = given.beta2;
  options.decay = given.decay;
  options.epsilon = given.epsilon;
  options.weight_decay = given.weight_decay;
  return options;
}

TrainerOptions trainer_options(const morton_trainer_options* from) {
  const auto asked = read_versioned(from, usual_trainer_options(), "trainer options");
  TrainerOptions options;
  options.batch = asked.batch;
  options.accumulate = asked.accumulate;
  options.loss = enumerator(asked.loss, Loss::mean_absolute_error, "loss");
  if (flag(asked.target_shares, "target_shares")) options.targets = TrainerOptions::Targets::shares;
  options.optimizer = optimizer_of(asked.optimizer);
  if (asked.clip_norm != 0.0) options.clip_norm = asked.clip_norm;
  if (asked.freeze_count > 0) given(asked.freeze, "freeze");
  for (std::size_t i = 0; i < asked.freeze_count; ++i) {
    options.freeze.push_back(given_text(asked.freeze[i], "freeze"));
  }
  options.seed = asked.seed;
  options.loss_scale = asked.loss_scale;
  if (flag(asked.recompute_activations, "recompute_activations")) {
    options.activations = TrainerOptions::Activations::recompute;
  }
  if (asked.compile != nullptr) options.compile = asked.compile->options;
  return options;
}

void tell_result(const BatchResult& from, morton_batch_result* to) {
  morton_batch_result result{};
  result.loss = from.loss;
  result.right = from.right;
  result.rows = from.rows;
  result.update = static_cast<std::int32_t>(from.update);
  write_versioned(to, result, "result");
}

/// Whether the caller wants a result; UsageError, before anything is done, where it has no size.
bool is_wanted(const morton_batch_result* result) {
  if (result == nullptr) return false;
  require_size(result->size, "result", "it is sizeof the struct");
  return true;
}

}  // namespace

morton_status morton_optimizer_options_init(morton_optimizer_options* options, size_t size) {
  return guarded([&] { write_versioned(options, size, usual_optimizer_options(), "options"); });
}

morton_status morton_trainer_options_init(morton_trainer_options* options, size_t size) {
  return guarded([&] { write_versioned(options, size, usual_trainer_options(), "options"); });
}

morton_status morton_trainer_create(const morton_model* model, const morton_device* device,
                                    const morton_trainer_options* options,
                                    morton_trainer** trainer) {
  return hand_over(trainer, "trainer", [&] {
    return new morton_trainer(given(model, "model").model, given(device, "device").device,
                              trainer_options(options));
  });
}

void morton_trainer_free(morton_trainer* trainer) { delete trainer; }

morton_status morton_trainer_input(const morton_trainer* trainer, morton_port* port) {
  return guarded([&] { given(trainer, "trainer").ports.write(0, port); });
}

morton_status morton_trainer_target(const morton_trainer* trainer, morton_port* port) {
  return guarded([&] { given(trainer, "trainer").ports.write(1, port); });
}

morton_status morton_trainer_step(morton_trainer* trainer, const void* inputs, size_t input_bytes,
                                  const void* targets, size_t target_bytes, double learning_rate,
                                  morton_batch_result* result) {
  return guarded([&] {
    auto& with = given(trainer, "trainer");
    const bool wanted = is_wanted(result);
    const BatchResult done = with.trainer.step(with.inputs(inputs, input_bytes),
                                               with.targets(targets, target_bytes), learning_rate);
    if (wanted) tell_result(done, result);
  });
}

morton_status morton_trainer_evaluate(morton_trainer* trainer, const void* inputs,
                                      size_t input_bytes, const void* targets, size_t target_bytes,
                                      int64_t rows, morton_batch_result* result) {
  return guarded([&] {
    auto& with = given(trainer, "trainer");
    given(result, "result");
    is_wanted(result);
    tell_result(with.trainer.evaluate(with.inputs(inputs, input_bytes),
                                      with.targets(targets, target_bytes), rows),
                result);
  });
}

int64_t morton_trainer_steps_done(const morton_trainer* trainer) {
  return trainer == nullptr ? -1 : trainer->trainer.steps_done();
}

morton_status morton_trainer_model(morton_trainer* trainer, morton_model** model) {
  return hand_over(model, "model",
                   [&] { return new morton_model(given(trainer, "trainer").trainer.model()); });
}

morton_status morton_trainer_save(morton_trainer* trainer, const char* path) {
  return guarded([&] { given(trainer, "trainer").trainer.model().save(given_text(path, "path")); });
}

morton_status morton_trainer_save_state(morton_trainer* trainer, const char* path) {
  return guarded(
      [&] { write_tensors(given_text(path, "path"), given(trainer, "trainer").trainer.state()); });
}

morton_status morton_trainer_load_state(morton_trainer* trainer, const char* path) {
  return guarded(
      [&] { given(trainer, "trainer").trainer.set_state(read_tensors(given_text(path, "path"))); });
}
