// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "morton/communicator.hpp"
#include "morton/compile.hpp"
#include "morton/device.hpp"
#include "morton/export.hpp"
#include "morton/message.hpp"
#include "morton/model.hpp"
#include "morton/optimizer.hpp"
#include "morton/session.hpp"
#include "morton/tensor.hpp"

namespace morton {

/// How a model is trained.
struct TrainerOptions {
  std::int64_t batch = 100;  ///< examples of a step, of all ranks
  /// The parameters follow the mean gradient of so many steps, at the last of them: as large
  /// batches do, in the memory of small ones (a BatchNormalization sees the small ones).
  std::int64_t accumulate = 1;
  Loss loss = Loss::softmax_cross_entropy;
  /// The kind of targets that softmax_cross_entropy takes.
  enum class Targets : std::uint8_t { labels, shares } targets = Targets::labels;
  OptimizerOptions optimizer;
  /// All gradients together are scaled down to this length where they are longer.
  std::optional<double> clip_norm;
  /// Parameters that stay as they are, by name; `*` stands for any text, `?` for one character. A
  /// BatchNormalization whose scale and shift stay also keeps its statistics. No gradient is
  /// computed of what stays.
  std::vector<std::string> freeze;
  std::uint64_t seed = 1;  ///< of Dropout
  /// Results of elementwise operators that the backward pass reads are kept, or computed again
  /// where their inputs are there: less memory for some more work, and the same values.
  enum class Activations : std::uint8_t { keep, recompute } activations = Activations::keep;
  /// With precision f16, what the loss is multiplied by on its way back, so that small gradients
  /// are no zeros as halves: a power of two from 1 to 2^24 to begin with. It halves when a gradient
  /// overflows, and that update is left out; it doubles after 2000 updates without
  /// (P. Micikevicius et al., "Mixed precision training", 2018).
  double loss_scale = 65536.0;
  /// Several processes that train one model: each computes the gradients of its rows of a batch,
  /// and all renew the parameters by the sum. A BatchNormalization sees the rows of its rank; its
  /// running statistics are the mean over the ranks, by their rows. `accumulate` must be 1.
  RankOptions ranks;
  /// Kernels, precision, cache and log, and full shapes of inputs whose further extents are open;
  /// the batch is the trainer's own. Precision f16, bf16 or tf32 rounds operands of the kernels;
  /// parameters, the optimizer's state and sums stay f32.
  CompileOptions compile;
};

/// The result of a step, or of an evaluation.
struct BatchResult {
  double loss = 0.0;        ///< mean over the rows
  std::int64_t right = -1;  ///< rows whose label is the model's first choice; -1 without labels
  std::int64_t rows = 0;
  /// Whether a step renewed the parameters.
  enum class Update : std::uint8_t {
    applied,
    awaited,    ///< it added its gradients to those that wait (TrainerOptions::accumulate)
    overflowed  ///< its gradients were not finite; the loss's scale is lower now
  } update = Update::applied;
};

/// The parameters of a training, and the memory that it takes.
struct TrainingSummary {
  struct Parameter {
    std::string name;
    Shape shape;
    enum class Role : std::uint8_t { trained, frozen, statistics } role = Role::trained;
  };
  std::vector<Parameter> parameters;
  /// A model's file does not tell two things. Trained parameters that elementwise operators scale
  /// by: learned scales, or fixed ones (a mask, a deviation), which `freeze` leaves as they are.
  std::vector<std::string> ambiguous_scales;
  /// Single numbers, which stay as they are though they may have been learned.
  std::vector<std::string> scalar_constants;
  std::int64_t trained_elements = 0;
  std::int64_t parameter_bytes = 0;  ///< of the device, of all parameters and statistics
  std::int64_t optimizer_bytes = 0;  ///< of the optimizer's state
  /// Of what lies between forward and backward pass, and of temporaries that lie among it.
  std::int64_t activation_bytes = 0;
  std::int64_t workspace_bytes = 0;  ///< of blocks that temporaries have to themselves
  int steps = 0;                     ///< of the plan
};

/// A model that learns on a device. A training step (forward, loss, gradients, update) is one
/// planned graph; parameters and the optimizer's state stay on the device. Belongs to one thread at
/// a time. With several ranks (TrainerOptions::ranks) the update is a graph of its own, and all of
/// them call `step` in the same order.
class MORTON_API Trainer {
 public:
  /// Throws UsageError for a model with other than one input, of f32, and one output, for patterns
  /// that match nothing, for nothing left to train and for a loss that does not go with the model's
  /// end; UnsupportedError that names a node without gradient; and what `compile` throws.
  Trainer(const Model& model, const Device& device, const TrainerOptions& options = {});
  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;
  ~Trainer();

  [[nodiscard]] PortInfo input() const;   ///< with the batch, or this rank's rows of it
  [[nodiscard]] PortInfo target() const;  ///< likewise
  /// How many classes its labels tell apart; 0 where its targets are no labels.
  [[nodiscard]] std::int64_t classes() const;
  [[nodiscard]] const TrainingSummary& summary() const;
  [[nodiscard]] const TrainerOptions& options() const;
  /// The plan of a step, as CompiledModel::plan_text.
  [[nodiscard]] std::string plan_text(CompiledModel::Detail detail,
                                      SettingPrinter printer = print_setting) const;
  [[nodiscard]] const CompiledModel& step_model() const;

  /// One step on a whole batch, of which each rank gives its rows. The loss is that before the
  /// update, of the whole batch. Throws UsageError for wrong
  /// types or shapes, labels out of range and a rate that is no f32 from 0 on, DeviceError,
  /// ModelError for gradients that are not finite although the loss is not scaled up any more. A
  /// loss that is not finite is returned as it is: the parameters are then spoilt.
  BatchResult step(const Tensor& inputs, const Tensor& targets, double learning_rate);
  /// Steps so far, those before `set_state` included.
  [[nodiscard]] std::int64_t steps_done() const;
  /// The factor of the next step's loss on its way back; 1 where it is not scaled.
  [[nodiscard]] double loss_scale() const;

  /// The model, as it is used, on the first `rows` rows of a whole batch (with several ranks of as
  /// many rows as this one has, and on this one alone); `predictions`, unless
  /// null, gets its output for all of them. Nothing changes. Throws
  /// UsageError for wrong types or shapes, labels out of range and `rows` that are not 1 to the
  /// batch; DeviceError.
  BatchResult evaluate(const Tensor& inputs, const Tensor& targets, std::int64_t rows,
                       Tensor* predictions = nullptr);

  /// The model with what it has learned, in the form in which it is used: of a file that was
  /// exported in training mode without that, and with a constant for each parameter.
  [[nodiscard]] Model model();
  /// Everything that the next steps depend on, except the batches: parameters, statistics, the
  /// optimizer's state and the trainer's own ("morton.progress", i64: steps, updates, the binary
  /// logarithm of the loss's scale, updates since it changed).
  [[nodiscard]] std::vector<NamedTensor> state();
  /// Goes on from there, bit for bit on the same device and driver. Throws UsageError for names,
  /// types or shapes of another model or optimizer.
  void set_state(const std::vector<NamedTensor>& state);
  /// Where a step spends its time, if the trainer is told to measure.
  void set_profiling(SessionOptions::Profiling profiling);
  [[nodiscard]] std::vector<StepTime> step_times();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace morton
