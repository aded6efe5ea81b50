// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/training/update_apart.hpp"
#include "autodiff/training_step.hpp"
#include "base/rooms.hpp"
#include "morton/trainer.hpp"
#include "training/loop/step_progress.hpp"
#include "training/ranks/ranks.hpp"

namespace morton {

/// What a trainer holds: the step and its session, the evaluation, and how far it is.
struct Trainer::State {
  State(const Model& given, const Device& on, const TrainerOptions& with);

  Model model;
  Device device;
  TrainerOptions options;
  training::Ranks ranks;
  autodiff::TrainingStep made;
  Session session;
  std::optional<api::UpdateApart> apart;  ///< the update, where ranks or steps add gradients up
  std::optional<Session> evaluation;      ///< made when it is first asked for
  bool evaluation_is_current = false;
  training::StepProgress progress;
  TrainingSummary summary;
  std::map<std::string, double> scalars;  ///< the scalar inputs as the device has them

  /// Names of all that a step renews, in the step's order.
  [[nodiscard]] std::vector<std::string> renewed() const;
  /// The tensor of that name as the graph that renews it has it.
  [[nodiscard]] const graph::GraphTensor& tensor_of(const std::string& state) const;
  /// The session that has the state.
  [[nodiscard]] Session& session_of(const std::string& state);
  /// The examples of a batch that are this rank's.
  [[nodiscard]] std::int64_t rows() const { return ranks.share().count; }
  [[nodiscard]] std::string model_input() const;
  [[nodiscard]] bool has_labels() const;
  /// How many classes labels tell apart; 0 without labels.
  [[nodiscard]] std::int64_t classes() const;
  [[nodiscard]] std::vector<std::string> names_of_results() const;
  /// The loss and the right answers of the first `rows` rows, as a session's outputs have them.
  [[nodiscard]] BatchResult result_of(const std::vector<Tensor>& outputs, std::int64_t rows) const;

  /// That of the whole batch, from every rank's.
  [[nodiscard]] BatchResult of_all_ranks(const BatchResult& own);

  /// Fills `summary`.
  void summarize();
  /// Sets a scalar input, if the step has it and the device has another value.
  void set_scalar(const char* input, double value);
  /// Sets all that changes from step to step beside the examples.
  void set_rates(double rate);
  /// The evaluation with what is learned so far.
  Session& current_evaluation();
};

}  // namespace morton
