// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/rooms.hpp"
#include "plan/search/task_candidates.hpp"

namespace morton::plan {

/// A way to have a tensor: in this arrangement, at this cost of everything before it.
struct TensorState {
  Arrangement arrangement;
  std::size_t format = 0;  ///< its number among the tensor's (Formats)
  double cost_us = 0.0;
  std::size_t candidate = 0;
  std::vector<std::pair<TensorId, std::size_t>> sources;  ///< tensor read, and its state
};

/// The cheapest way to meet a demand: the cost of a copy and of all before it, and which state. Of
/// what comes before, a task that reads the tensor bears its share: where paths part and join
/// again, as in DenseNet, whole costs would double at each join until no sum told the formats
/// apart.
struct Met {
  Demand demand;
  double cost_us = 0.0;
  std::size_t state = 0;
};

/// The ways to have each tensor that are known so far, and what it costs to meet demands from them.
/// A tensor's states are complete before anything is asked of it.
class TensorStates {
 public:
  /// Inputs and states lie row-major. `context` must outlive it.
  explicit TensorStates(const PlanContext& context);

  /// None of a constant: it is packed once, when the plan is loaded.
  [[nodiscard]] const std::vector<TensorState>& of(TensorId tensor) const {
    return states_[tensor];
  }
  void add(TensorId tensor, TensorState state) { states_[tensor].push_back(std::move(state)); }
  /// Adds the way to have it in this arrangement with these contents of padding, or puts it in
  /// place of a dearer one of the same format and contents.
  void keep(TensorId tensor, const TensorState& way, const Arrangement& arrangement,
            PaddingContents padding);

  /// Cost of using `state`, of the tensor at the root of `tensor`'s aliases, where `demand` is made
  /// of `tensor`.
  [[nodiscard]] double fit_us(TensorId tensor, const TensorState& state,
                              const Demand& demand) const;
  /// The cheapest way to meet the demand that is made of `tensor`. Many candidates demand the same.
  [[nodiscard]] const Met& meet(TensorId tensor, const Demand& demand);
  /// The cheapest state of a tensor that nothing decided yet: outputs must end up row-major.
  [[nodiscard]] std::size_t cheapest(TensorId tensor) const;

 private:
  void count_readers();
  [[nodiscard]] Met cheapest_to_meet(TensorId tensor, const Demand& demand) const;

  const PlanContext& context_;
  Indexed<TensorId, std::vector<TensorState>> states_;
  Indexed<TensorId, std::vector<Met>> met_;
  Indexed<TensorId, int> readers_;  ///< tasks that read a tensor or an alias of it, by the root
};

}  // namespace morton::plan
