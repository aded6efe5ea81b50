// SPDX-License-Identifier: Apache-2.0
//
// Training LeNet-5 from random weights, a step a call.
#include <math.h>

#include "api_c/check.h"

enum { STEPS = 12 };

/// A new network, and a trainer of it.
typedef struct learner {
  morton_model* model;
  morton_trainer* trainer;
} learner;

static learner new_learner(const lenet* all) {
  learner made = {NULL, NULL};
  morton_optimizer_options optimizer;
  morton_trainer_options options;
  CHECK_OK(morton_model_new("lenet5", 1, &made.model));
  CHECK_OK(morton_optimizer_options_init(&optimizer, sizeof optimizer));
  CHECK_OK(morton_trainer_options_init(&options, sizeof options));
  optimizer.kind = MORTON_OPTIMIZER_ADAM;
  options.batch = DIGITS;
  options.optimizer = &optimizer;
  CHECK_OK(morton_trainer_create(made.model, all->device, &options, &made.trainer));
  return made;
}

static void free_learner(learner* made) {
  morton_trainer_free(made->trainer);
  morton_model_free(made->model);
}

/// The digits that the pictures show.
static void labels_of(const lenet* all, int32_t* labels) {
  for (int digit = 0; digit < DIGITS; ++digit) {
    const float* shares = all->probabilities + digit * KINDS;
    labels[digit] = 0;
    for (int kind = 1; kind < KINDS; ++kind) {
      if (shares[kind] > shares[labels[digit]]) labels[digit] = kind;
    }
  }
}

static const size_t image_bytes = sizeof(float) * DIGITS * PIXELS;

/// The loss of a step.
static double step(morton_trainer* trainer, const lenet* all, const int32_t* labels) {
  morton_batch_result result = {.size = sizeof result};
  CHECK_OK(morton_trainer_step(trainer, all->images, image_bytes, labels, sizeof(int32_t) * DIGITS,
                               0.002, &result));
  CHECK(result.rows == DIGITS && result.right >= 0 && result.update == MORTON_UPDATE_APPLIED);
  return result.loss;
}

void test_training(void) {
  lenet all = lenet_open(DIGITS);
  int32_t labels[DIGITS];
  labels_of(&all, labels);
  learner made = new_learner(&all);
  morton_port port = {.size = sizeof port};
  CHECK_OK(morton_trainer_input(made.trainer, &port));
  CHECK(port.bytes == image_bytes);
  CHECK_OK(morton_trainer_target(made.trainer, &port));
  CHECK(port.type == MORTON_I32 && port.rank == 1 && port.extents[0] == DIGITS);

  const double first = step(made.trainer, &all, labels);
  double last = first;
  for (int i = 1; i < STEPS; ++i) last = step(made.trainer, &all, labels);
  CHECK(first > 1.0 && last < 0.5 * first);
  CHECK(morton_trainer_steps_done(made.trainer) == STEPS);

  // Another trainer goes on from the state, bit for bit.
  const char* state = "c_api_state.npz";
  CHECK_OK(morton_trainer_save_state(made.trainer, state));
  learner other = new_learner(&all);
  CHECK_OK(morton_trainer_load_state(other.trainer, state));
  CHECK(morton_trainer_steps_done(other.trainer) == STEPS);
  CHECK(step(other.trainer, &all, labels) == step(made.trainer, &all, labels));
  free_learner(&other);
  remove(state);

  // What has learned is a model as any other.
  const char* path = "c_api_learned.onnx";
  morton_batch_result result = {.size = sizeof result};
  CHECK_OK(morton_trainer_evaluate(made.trainer, all.images, image_bytes, labels, sizeof labels,
                                   DIGITS, &result));
  CHECK(result.right > DIGITS / 2 && isfinite(result.loss));
  CHECK_OK(morton_trainer_save(made.trainer, path));
  morton_model *read = NULL, *learned = NULL;
  CHECK_OK(morton_model_load(path, &read));
  CHECK_OK(morton_trainer_model(made.trainer, &learned));
  CHECK(morton_model_input_count(read) == 1 && morton_model_output_count(learned) == 1);
  morton_model_free(read);
  morton_model_free(learned);
  remove(path);
  free_learner(&made);
  lenet_close(&all);
}

void test_training_errors(void) {
  lenet all = lenet_open(DIGITS);
  int32_t labels[DIGITS];
  labels_of(&all, labels);
  learner made = new_learner(&all);
  morton_batch_result result = {.size = sizeof result};
  const double first = step(made.trainer, &all, labels);
  CHECK_FAILS(morton_trainer_step(made.trainer, all.images, image_bytes - 4, labels, sizeof labels,
                                  0.002, &result),
              MORTON_ERROR_USAGE, "expected 81920 bytes");
  CHECK_FAILS(morton_trainer_step(made.trainer, all.images, image_bytes, labels, 4, 0.002, &result),
              MORTON_ERROR_USAGE, "expected 80 bytes");
  labels[3] = KINDS;
  CHECK_FAILS(morton_trainer_step(made.trainer, all.images, image_bytes, labels, sizeof labels,
                                  0.002, &result),
              MORTON_ERROR_USAGE, "label 10");
  labels_of(&all, labels);
  CHECK_FAILS(morton_trainer_step(made.trainer, all.images, image_bytes, labels, sizeof labels,
                                  -1.0, &result),
              MORTON_ERROR_USAGE, "rate");
  morton_batch_result no_size = {.size = 0};
  CHECK_FAILS(morton_trainer_step(made.trainer, all.images, image_bytes, labels, sizeof labels,
                                  0.002, &no_size),
              MORTON_ERROR_USAGE, "size");
  CHECK(morton_trainer_steps_done(made.trainer) == 1);
  CHECK(step(made.trainer, &all, labels) < first);
  free_learner(&made);

  morton_trainer_options options;
  morton_trainer* trainer = NULL;
  static const char* const none[] = {"no such parameter"};
  CHECK_OK(morton_trainer_options_init(&options, sizeof options));
  options.freeze = none;
  options.freeze_count = 1;
  CHECK_FAILS(morton_trainer_create(all.model, all.device, &options, &trainer), MORTON_ERROR_USAGE,
              "no such parameter");
  CHECK(trainer == NULL);
  options.freeze_count = 0;
  options.loss = 7;
  CHECK_FAILS(morton_trainer_create(all.model, all.device, &options, &trainer), MORTON_ERROR_USAGE,
              "expected 0 to 3");
  CHECK(strcmp(morton_last_setting(), "loss") == 0);
  lenet_close(&all);
}
