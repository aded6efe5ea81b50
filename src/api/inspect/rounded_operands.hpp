// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>

#include "base/rooms.hpp"
#include "ops/core/partial_reference.hpp"
#include "plan/ir/plan.hpp"

namespace morton::api {

/// What layers read where kernels keep f32 operands as shorter numbers: constants, and copies of
/// what lies there as f32.
class RoundedOperands {
 public:
  /// `graph` is as the passes have left it. Both must outlive this.
  RoundedOperands(const Plan& plan, const Graph& graph) : plan_(plan), graph_(graph) {}

  /// What is known to the steps of a layer: `known`, and in the place of what they read rounded the
  /// rounded numbers.
  [[nodiscard]] KnownValues known_to(std::span<const Step* const> steps, const KnownValues& known);

 private:
  void put(const std::string& name, DType type, const KnownValues& known, KnownValues& own);

  const Plan& plan_;
  const Graph& graph_;
  std::map<std::pair<std::string, DType>, Tensor> constants_;
};

}  // namespace morton::api
