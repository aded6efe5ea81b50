// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/compile/planning.hpp"
#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "morton/compile.hpp"
#include "run/loaded_plan.hpp"

namespace morton::api {

/// What a CompiledModel shares.
struct CompiledState {
  std::vector<Device> devices;  ///< by slot
  /// As loaded: compiling it for another device starts here. Nothing where the compiled model came
  /// from a file.
  std::optional<Model> model;
  CompileOptions options;  ///< as given
  std::vector<PortInfo> inputs{}, outputs{};
  /// Of inputs from whose values shapes follow: what every run must give.
  std::map<std::string, Tensor> planned_values{};
  CompileReport report{};
  std::shared_ptr<const LoadedPlan> loaded{};
  /// For plans at other extents, on one device: what they are made from, what is built, and the
  /// plan whose programs and constants they share (the first of them).
  std::shared_ptr<const PlanSetup> setup{};
  std::shared_ptr<const BuiltKernels> built{};
  std::vector<std::shared_ptr<const Plan>> also{};  ///< the plans for CompileOptions::also
  std::shared_ptr<const LoadedPlan> family{};
};

/// `compile` without a self-test.
[[nodiscard]] std::shared_ptr<CompiledState> compile_untried(const Model& model,
                                                             const std::vector<Device>& devices,
                                                             const CompileOptions& given);

}  // namespace morton::api
