// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "api/compile/compiled_state.hpp"
#include "api/compile/job.hpp"
#include "api/compile/kept_plan_key.hpp"
#include "base/rooms.hpp"

namespace morton::api {

/// Plans in the folder `plans` of the cache. A plan's file holds the plan and what it is for; the
/// weights that passes over the model made lie in a file of their own, which plans for other shapes
/// share. Neither is believed unless it is whole and nobody else may write it.
class KeptPlan {
 public:
  /// The place for the plan of `model` with these options on a device. Without a cache folder, or
  /// where the key says that nothing is kept, there is none.
  KeptPlan(const Model& model, const CompileOptions& options, const Device& device);

  /// The model compiled by the plan that is kept; null where there is none that can be used: its
  /// kernels must all be built, and tried where the options ask for it. What is damaged is told and
  /// planned anew.
  [[nodiscard]] std::shared_ptr<CompiledState> compiled() const;
  /// Keeps the plan of `state`, which was compiled just now. What cannot be written is told.
  void keep(const CompiledState& state) const;

 private:
  [[nodiscard]] std::shared_ptr<CompiledState> read() const;
  void write(const CompiledState& state) const;

  const Model& model_;
  const CompileOptions& options_;
  const Device& device_;
  Store store_;
  KeptPlanKey key_;
  std::filesystem::path folder_;  ///< empty: there is no place
};

}  // namespace morton::api
