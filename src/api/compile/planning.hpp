// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/compile/job.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"

namespace morton::api {

/// The model with its share of the batch; the observer is told what the passes did.
[[nodiscard]] ModelAtShapes part_of(const Job& job, std::int64_t rows);

/// The plan for the devices that the texts describe; nothing runs, so several share the batch by
/// estimates. Throws UsageError, ModelError or UnsupportedError.
[[nodiscard]] MORTON_FOR_TOOLS Plan planned_for(const Model& model,
                                                const std::vector<std::string>& device_jsons,
                                                const CompileOptions& options);

/// An equal share of the batch, for comparing devices.
[[nodiscard]] std::int64_t equal_share(std::int64_t batch, std::size_t devices);

/// Throws UsageError where weights are given, but not one for each device.
void check_weights(const std::vector<double>& weights, std::size_t devices);

/// Rows for each device, in proportion to the job's weights, else to the speed that its plan
/// estimates. Throws UsageError where they cannot be, UnsupportedError for a model whose batch is
/// fixed.
[[nodiscard]] std::vector<std::int64_t> estimated_rows(const Job& job,
                                                       const std::vector<DeviceInfo>& devices);

/// The job's plan over several devices; device i gets `rows[i]` of the batch.
[[nodiscard]] Plan split_planned(const Job& job, const std::vector<DeviceInfo>& devices,
                                 const std::vector<std::int64_t>& rows);

}  // namespace morton::api
