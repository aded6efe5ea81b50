// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/algebra/expression.hpp"
#include "base/rooms.hpp"
#include "morton/dtype.hpp"
#include "morton/plan_choices.hpp"
#include "plan/ir/decision.hpp"
#include "plan/measured/tuned.hpp"

namespace morton::plan {

/// What a plan is made for.
struct PlanOptions {
  /// f16, bf16 and tf32 let kernels keep f32 tensors in memory rounded to that type; sums stay in
  /// f32.
  DType precision = DType::f32;
  /// f16 lets kernels that keep their operands as f16 add up some products in f16 (terms_in_f16).
  DType sums = DType::f32;
  std::optional<std::int64_t> workspace_limit_bytes;  ///< else usual_workspace_bytes
  /// Most device memory of the weights; those beyond are streamed (plan/lower/streaming.hpp).
  std::optional<std::int64_t> weight_limit_bytes;
  /// family -> entry or recipe that must be used wherever that family is asked for.
  std::map<std::string, std::string> use;
  /// Entries and recipes that may not be used.
  std::vector<std::string> exclude;
  /// Work-group size by dimension for the kernels that leave theirs open
  /// (plan/policy/work_group.hpp); empty: as the entries say.
  std::vector<std::int64_t> local;
  /// Values of tunables by kernel (plan/policy/tunables.hpp); what is not given is as the entry
  /// says.
  std::map<std::string, Environment> tunables;
  /// Measured values for kernels whose values are not set, and verdicts (plan/measured/tuned.hpp);
  /// null: none.
  std::shared_ptr<const TunedData> tuned;
  /// Libraries that this build can call ("clblast", "eigen"); entries of others are rejected.
  std::set<std::string> libraries;
  /// Kernels that are built already: only these are chosen for the tasks that they were decided
  /// for. Null: any.
  std::shared_ptr<const BuiltKernels> built;
  /// What happens where those do not do: UnsupportedError, or others that must be built.
  using Missing = MissingKernels;
  Missing missing = Missing::build;
  /// Which kernels that do not need each other's results share launches
  /// (plan/lower/join_launches.hpp).
  using Launches = JoinedLaunches;
  Launches launches = Launches::automatic;
  /// Where entries that run on the host may be chosen. Of several devices all but one wait while
  /// the host computes.
  enum class HostSteps : std::uint8_t {
    where_they_pay,
    where_named
  } host_steps = HostSteps::where_they_pay;
};

}  // namespace morton::plan
