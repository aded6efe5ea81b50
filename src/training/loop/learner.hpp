// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "morton/tensor.hpp"
#include "morton/trainer.hpp"
#include "training/ranks/ranks.hpp"

namespace morton::training {

/// What a training loop leads through the data: a Trainer, or in tests something that needs no
/// device. Its members are those of Trainer.
class Learner {
 public:
  Learner() = default;
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;
  virtual ~Learner() = default;

  [[nodiscard]] virtual PortInfo input() const = 0;
  [[nodiscard]] virtual PortInfo target() const = 0;
  virtual BatchResult step(const Tensor& inputs, const Tensor& targets, double learning_rate) = 0;
  virtual BatchResult evaluate(const Tensor& inputs, const Tensor& targets, std::int64_t rows) = 0;
  [[nodiscard]] virtual std::vector<NamedTensor> state() = 0;
  virtual void set_state(const std::vector<NamedTensor>& state) = 0;

  /// The processes that learn together, each with its rows of a batch.
  [[nodiscard]] virtual Ranks& ranks() { return alone_; }
  /// Steps whose gradients make one update of the parameters.
  [[nodiscard]] virtual std::int64_t accumulate() const = 0;
  /// Classes that it tells apart; 0 where its targets are no labels.
  [[nodiscard]] virtual std::int64_t classes() const = 0;
  /// Names of the parameters that it changes, as `state` has them.
  [[nodiscard]] virtual std::vector<std::string> trained() const = 0;
  /// Names of the tensors of `state` that are the model's own, not the optimizer's.
  [[nodiscard]] virtual std::vector<std::string> parameters() const = 0;
  /// What must be the same where a training goes on: name and value, as people read them.
  [[nodiscard]] virtual std::map<std::string, std::string> settings() const = 0;
  /// A digest of how a step is computed: another one may round otherwise.
  [[nodiscard]] virtual std::string plan_digest() const = 0;
  /// Programs that were built for its device so far.
  [[nodiscard]] virtual std::int64_t program_builds() const = 0;
  /// For TensorBoard.
  [[nodiscard]] virtual const Graph& graph() const = 0;

 private:
  Ranks alone_;
};

/// What all ranks found, from what each found on its rows. Losses are sums over rows.
[[nodiscard]] BatchResult sum_over_ranks(Ranks& ranks, const BatchResult& own);

}  // namespace morton::training
