// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "autodiff/training_step.hpp"
#include "base/rooms.hpp"
#include "morton/session.hpp"
#include "morton/tensor.hpp"
#include "training/ranks/ranks.hpp"

namespace morton::api {

/// The second half of a step whose gradients several steps or ranks add up: the parameters follow.
/// Every rank renews all of them, so that all have the same. On their way gradients and running
/// statistics lie in one buffer.
class UpdateApart {
 public:
  /// `step` computes from here on with the parameters in the memory of `update`. With one rank the
  /// update reads the gradients in the memory of `step`.
  UpdateApart(const TrainingStep& made, Session& step, CompiledModel update, const Ranks& ranks);

  /// The optimizer's session. The parameters are states of it.
  [[nodiscard]] Session& session() { return update_; }
  /// Whether that session has the state.
  [[nodiscard]] bool has(const std::string& state) const;

  /// Takes the gradients that `step` added up, and renews the parameters. Returns whether the
  /// update was left out since some gradient was not finite.
  bool renew(Session& step, Ranks& ranks);

 private:
  /// A state of the step that is a part of the buffer.
  struct Piece {
    std::string state, input;  ///< and of the update, where it has it
    Tensor values;             ///< in the buffer
  };
  void make_buffer(const TrainingStep& made);
  void read_pieces(Session& step);
  void weight_statistics(const Ranks& ranks);

  Session update_;
  std::vector<std::string> states_;
  Tensor buffer_;
  std::size_t gradient_values_ = 0;  ///< of the buffer; statistics follow
  std::vector<Piece> gradients_, statistics_;
  bool may_overflow_ = false;
};

}  // namespace morton::api
