// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "morton/tools/compiler_statistics.hpp"
#include "morton/tools/kernel.hpp"
#include "plan/measured/tuned.hpp"

namespace morton::tools {

/// What a work-item of a launch has to do.
struct ItemWork {
  double operations = 1.0;  ///< of the entry's `work`
  /// Those for each byte that it loads, of kernels whose loops have no multiply-adds.
  double for_each_byte = 0.25;
  bool multiplies_codes = false;  ///< its products are of whole numbers
};

/// Of one work-item of the kernel as it is launched.
[[nodiscard]] ItemWork work_of(const KernelText& kernel);

/// The parts of a StaticCost that follow from the statistics. The number of turns of the hot loop
/// is not in the machine code: a turn does two operations for each of its multiply-adds. Where it
/// has none they are those of its products of codes, or what belongs to the bytes that it loads.
[[nodiscard]] StaticCost static_cost_of(const CompilerStatistics& statistics, const ItemWork& work);

}  // namespace morton::tools
