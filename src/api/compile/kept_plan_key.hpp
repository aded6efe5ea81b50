// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/compile/job.hpp"
#include "base/rooms.hpp"

namespace morton::api {

/// What a plan depends on, as digests.
struct KeptPlanKey {
  std::string lasting;   ///< model, options, device, this build of Morton; empty: nothing is kept
  std::string measured;  ///< tuning data and verdicts, which compiling a model may add to

  /// The name of the plan's file.
  [[nodiscard]] std::string name() const;
  bool operator==(const KeptPlanKey&) const = default;
};

/// Reads the model's weights once. `lasting` is empty where a plan depends on what has no digest: a
/// folder of kernels or parameters that a developer names, a build without a build id; and for
/// CompileOptions::also.
[[nodiscard]] KeptPlanKey kept_plan_key(const Model& model, const CompileOptions& options,
                                        const Store& store, const DeviceInfo& device);
/// KeptPlanKey::measured alone.
[[nodiscard]] std::string measured_digest(const Store& store);

}  // namespace morton::api
