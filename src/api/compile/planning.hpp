// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"
#include "graph/graph.hpp"
#include "morton/compile.hpp"
#include "passes/pipeline.hpp"
#include "plan/ir/plan.hpp"

namespace morton::api {

/// The standard catalogue and the options' files.
[[nodiscard]] Catalogue catalogue_for(const CompileOptions& options);

/// What planning takes of the options, with tuning data of the cache folder that they say.
[[nodiscard]] PlanOptions plan_options_of(const CompileOptions& options);

/// What the passes take of the options.
[[nodiscard]] PassOptions pass_options_of(const CompileOptions& options);

/// The model after its passes. Throws what they throw.
[[nodiscard]] Graph prepared_graph(const Model& model, const CompileOptions& options);

/// What was measured, of all sources that the options let in; and what self-tests refuse. Of the
/// folder that the options say, or of `cache`: an empty one holds nothing. Throws ModelError for a
/// damaged file.
[[nodiscard]] std::shared_ptr<const TunedData> tuned_for(const CompileOptions& options);
[[nodiscard]] std::shared_ptr<const TunedData> tuned_for(const CompileOptions& options,
                                                         const std::filesystem::path& cache);

/// What plans are made from besides the graph and the device; reading it takes longer than a plan.
struct PlanSetup {
  Catalogue catalogue;
  PlanOptions options;
};
[[nodiscard]] PlanSetup plan_setup(const CompileOptions& options);
/// Likewise for a device with this cache folder; empty where it has none.
[[nodiscard]] PlanSetup plan_setup(const CompileOptions& options,
                                   const std::filesystem::path& cache);

/// What is built already, and what happens where that does not do (PlanOptions::built).
struct PlanLimits {
  std::shared_ptr<const BuiltKernels> built;
  CompiledModel::Missing missing = CompiledModel::Missing::build;
};

/// Its plan for one device.
[[nodiscard]] Plan planned(const Graph& graph, const DeviceInfo& device, const PlanSetup& setup,
                           const PlanLimits& limits = {});
[[nodiscard]] Plan planned(const Graph& graph, const DeviceInfo& device,
                           const CompileOptions& options);

/// Its plan over several devices; `graph` has the whole batch, device i gets `rows[i]` of it.
[[nodiscard]] Plan split_planned(const Model& model, const Graph& graph,
                                 const std::vector<DeviceInfo>& devices,
                                 const std::vector<std::int64_t>& rows,
                                 const CompileOptions& options, const PlanSetup& setup);

/// Rows for each device, in proportion to the weights given, else to the speed that its plan
/// estimates. Throws UsageError where they cannot be, UnsupportedError for a model whose batch is
/// fixed.
[[nodiscard]] std::vector<std::int64_t> estimated_rows(const Model& model, const Graph& graph,
                                                       const std::vector<DeviceInfo>& devices,
                                                       const CompileOptions& options);

/// Fills in `report.shares`: rows in proportion to the weights given, else to the speed measured on
/// each device with an equal share of the batch. Errors as estimated_rows, and those of running.
void share_batch(const Model& model, const Graph& graph, const std::vector<Device>& devices,
                 const CompileOptions& options, CompileReport& report);

[[nodiscard]] std::vector<DeviceInfo> infos_of(const std::vector<Device>& devices);
[[nodiscard]] std::vector<std::int64_t> rows_of(const std::vector<DeviceShare>& shares);

}  // namespace morton::api
