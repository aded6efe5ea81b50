// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "device/open/opencl_device.hpp"
#include "device/open/program_cache.hpp"
#include "plan/ir/plan.hpp"

namespace morton::run {

/// A driver's compiler takes little more on more threads.
inline constexpr std::size_t kMostBuildThreads = 8;

/// A program that a cache is asked for.
struct ProgramText {
  ProgramCache* programs = nullptr;
  std::string source;
  std::vector<std::string> functions;
};

/// Whether each kernel of the plan is built for the device: on disk, or in this process.
[[nodiscard]] bool is_built(const Plan& plan, OpenClDevice& device);

/// The programs of `texts`, in their order, made by as many threads as the host has processors, at
/// most `most_threads`. What was built is added to `report`, whose `build_ms` grows by the time
/// that passed. `built_one`, unless empty, is called after each, by one thread at a time. Throws
/// what making a program throws, or `built_one`: of several that fail, the first in the order of
/// `texts`.
[[nodiscard]] std::vector<std::shared_ptr<CachedProgram>> make_programs(
    const std::vector<ProgramText>& texts, std::size_t most_threads, BuildReport& report,
    const std::function<void()>& built_one);

}  // namespace morton::run
