// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "plan/ir/plan.hpp"
#include "run/loaded_plan.hpp"

namespace morton::run {

/// What worker processes did for a plan.
struct WorkerBuilds {
  int kernels = 0;   ///< that lie in the cache now, also by other processes
  int compiled = 0;  ///< objects that the driver compiled for them
  double build_ms = 0.0;
  Message
      unkept;  ///< why the cache takes no more, if it does not: kernels are left to this process
  /// Why kernels are left to this process, if some are; one line for all of a kind.
  std::vector<Message> problems;
};

/// Throws DeviceError when `stop` is asked for.
void require_wanted(const std::stop_token& stop);

/// Lets worker processes build the kernels that the devices' caches lack, on devices whose driver
/// builds one at a time; LoadedPlan then finds them. `others` are plans at other extents that share
/// the plan's kernels: one that only they launch is built for their launch. Other devices, devices
/// without a cache folder and kernels that no step launches are left alone. `one_done`, unless
/// empty, is called after each kernel. Throws DeviceError when
/// `stop` is asked for.
[[nodiscard]] WorkerBuilds build_by_workers(const Plan& plan, std::span<const Plan> others,
                                            const OpenClDevices& devices,
                                            const std::function<void()>& one_done,
                                            const std::stop_token& stop = {});

}  // namespace morton::run
