// SPDX-License-Identifier: Apache-2.0
#ifndef MORTON_C_TRAINER_H
#define MORTON_C_TRAINER_H

/// Training on the device (docs/training.md). morton/morton.h is the header to include.
#include "morton/c/base.h"
#include "morton/c/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A model that learns on a device. Belongs to one thread at a time.
typedef struct morton_trainer morton_trainer;

enum {  // morton_trainer_options.loss
  /// Targets: labels (i32 [batch]), or with target_shares a share for each class (f32 [batch,
  /// classes]).
  MORTON_LOSS_SOFTMAX_CROSS_ENTROPY = 0,
  MORTON_LOSS_BINARY_CROSS_ENTROPY = 1,  ///< behind a Sigmoid; targets from 0 to 1, of its shape
  MORTON_LOSS_MEAN_SQUARED_ERROR = 2,    ///< of each output; targets of its shape
  MORTON_LOSS_MEAN_ABSOLUTE_ERROR = 3    ///< likewise
};

enum {  // morton_optimizer_options.kind
  MORTON_OPTIMIZER_SGD = 0,
  MORTON_OPTIMIZER_ADAM = 1,
  MORTON_OPTIMIZER_ADAMW = 2,
  MORTON_OPTIMIZER_RMSPROP = 3
};

/// How parameters follow their gradients; docs/training.md has the formulas.
typedef struct morton_optimizer_options {
  size_t size;
  int32_t kind;
  int32_t nesterov;  ///< 1: Nesterov's form of the momentum
  double momentum;
  double beta1, beta2;  ///< of Adam and AdamW
  double decay;         ///< of RMSProp
  double epsilon;       ///< of all but SGD; above 0
  double weight_decay;
} morton_optimizer_options;

/// How a model is trained.
typedef struct morton_trainer_options {
  size_t size;
  int64_t batch;       ///< examples of a step
  int64_t accumulate;  ///< steps whose mean gradient the parameters follow
  int32_t loss;
  int32_t target_shares;  ///< 1: softmax_cross_entropy takes shares in place of labels
  const morton_optimizer_options* optimizer;  ///< NULL: SGD at its defaults
  double clip_norm;                           ///< longest length of all gradients together; 0: any
  const char* const* freeze;                  ///< parameters that stay, by name or pattern
  size_t freeze_count;
  uint64_t seed;                          ///< of Dropout
  double loss_scale;                      ///< at first, with precision f16
  int32_t recompute_activations;          ///< 1: less memory for more work
  int32_t reserved;                       ///< 0
  const morton_compile_options* compile;  ///< kernels and precision, not the batch; may be NULL
} morton_trainer_options;

/// Each fills its struct with what holds unless told otherwise. `size` is sizeof the struct.
MORTON_C_API morton_status morton_optimizer_options_init(morton_optimizer_options* options,
                                                         size_t size);
MORTON_C_API morton_status morton_trainer_options_init(morton_trainer_options* options,
                                                       size_t size);

enum {                        // morton_batch_result.update
  MORTON_UPDATE_APPLIED = 0,  ///< the parameters are new
  MORTON_UPDATE_AWAITED = 1,  ///< the gradients wait for more (accumulate)
  /// The gradients were not finite, and the loss's scale is lower now.
  MORTON_UPDATE_OVERFLOWED = 2
};

/// What a step or an evaluation gives.
typedef struct morton_batch_result {
  size_t size;       ///< set by the caller: sizeof(morton_batch_result)
  double loss;       ///< mean over the rows; of a step before its update
  int64_t right;     ///< rows whose label is the model's first choice; -1 without labels
  int64_t rows;      ///< that count
  int32_t update;    ///< of a step: what became of the parameters
  int32_t reserved;  ///< 0
} morton_batch_result;

/// Makes a training step of the model and compiles it. `options` may be NULL, and is not needed
/// afterwards. MORTON_ERROR_USAGE for options that do not fit the model; MORTON_ERROR_UNSUPPORTED
/// names a node without a gradient; and what morton_compile gives.
MORTON_C_API morton_status morton_trainer_create(const morton_model* model,
                                                 const morton_device* device,
                                                 const morton_trainer_options* options,
                                                 morton_trainer** trainer);
MORTON_C_API void morton_trainer_free(morton_trainer* trainer);
/// What a step takes, with the batch: examples (f32), and their targets.
MORTON_C_API morton_status morton_trainer_input(const morton_trainer* trainer, morton_port* port);
MORTON_C_API morton_status morton_trainer_target(const morton_trainer* trainer, morton_port* port);
/// One step on a whole batch: `input_bytes` and `target_bytes` are those that the ports state.
/// MORTON_ERROR_USAGE for other sizes, labels out of range, a rate below 0. A loss that is not
/// finite is no error, but the parameters are spoilt then. `result` may be NULL.
MORTON_C_API morton_status morton_trainer_step(morton_trainer* trainer, const void* inputs,
                                               size_t input_bytes, const void* targets,
                                               size_t target_bytes, double learning_rate,
                                               morton_batch_result* result);
/// The model, as it is used, on the first `rows` rows of a whole batch. Nothing is learned.
/// MORTON_ERROR_USAGE as of a step, and for `rows` that are not 1 to the batch.
MORTON_C_API morton_status morton_trainer_evaluate(morton_trainer* trainer, const void* inputs,
                                                   size_t input_bytes, const void* targets,
                                                   size_t target_bytes, int64_t rows,
                                                   morton_batch_result* result);
/// Steps so far; -1 for NULL.
MORTON_C_API int64_t morton_trainer_steps_done(const morton_trainer* trainer);
/// The model with what it has learned, to compile or save.
MORTON_C_API morton_status morton_trainer_model(morton_trainer* trainer, morton_model** model);
/// Writes that model to an .onnx file. It appears whole or not at all. MORTON_ERROR_USAGE where it
/// cannot be written.
MORTON_C_API morton_status morton_trainer_save(morton_trainer* trainer, const char* path);
/// Writes all that the next steps depend on, except the batches, to an .npz file.
/// MORTON_ERROR_USAGE where it cannot be written.
MORTON_C_API morton_status morton_trainer_save_state(morton_trainer* trainer, const char* path);
/// Goes on from such a file, bit for bit on the same device and driver. MORTON_ERROR_USAGE where it
/// is of another model or optimizer.
MORTON_C_API morton_status morton_trainer_load_state(morton_trainer* trainer, const char* path);

#ifdef __cplusplus
}
#endif

#endif
