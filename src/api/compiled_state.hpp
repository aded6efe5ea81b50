// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "graph/graph.hpp"
#include "morton/compile.hpp"
#include "run/loaded_plan.hpp"

namespace morton {

/// What a CompiledModel shares.
struct CompiledState {
  std::vector<Device> devices;  ///< by slot
  Model model;                  ///< as loaded: compiling it for another device starts here
  CompileOptions options;       ///< as given
  std::vector<PortInfo> inputs, outputs;
  CompileReport report;
  std::shared_ptr<const LoadedPlan> loaded;
};

}  // namespace morton
