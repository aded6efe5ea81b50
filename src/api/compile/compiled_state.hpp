// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/compile/model_at_shapes.hpp"
#include "base/rooms.hpp"
#include "morton/compile.hpp"
#include "plan/policy/kernel_policy.hpp"

namespace morton::run {
class LoadedPlan;
}

namespace morton::api {

/// A plan for extents that were named when compiling.
struct PlanAtShapes {
  InputShapes shapes;
  std::shared_ptr<const Plan> plan;
};

/// What a CompiledModel shares.
struct CompiledState {
  std::vector<Device> devices;  ///< in the plan's order
  /// As loaded: compiling it for another device starts here. Nothing where the compiled model came
  /// from a file.
  std::optional<Model> model;
  CompileOptions options{};  ///< as given; only compiling the model anew reads them
  PassOptions passes{};
  std::vector<PortInfo> inputs{}, outputs{};
  /// Of inputs from whose values shapes follow: what every run must give.
  std::map<std::string, Tensor> planned_values{};
  CompileReport report{};
  std::shared_ptr<const LoadedPlan> loaded{};
  /// For plans at other extents, on one device: what they are made from, what is built, and the
  /// plan whose programs and constants they share (the first of them).
  std::shared_ptr<const KernelPolicy> policy{};
  std::shared_ptr<const BuiltKernels> built{};
  std::vector<PlanAtShapes> also{};           ///< of CompileOptions::also
  std::function<void(const Message&)> log{};  ///< CompileOptions::log
  CompileOptions::Fallback fallback = CompileOptions::Fallback::report;
  std::shared_ptr<const LoadedPlan> family{};
};

/// What is known of a model before it is planned.
[[nodiscard]] CompiledState state_before_planning(const ModelAtShapes& subject,
                                                  const std::vector<Device>& devices);

}  // namespace morton::api
