// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "morton/export.hpp"
#include "morton/tools/compiler_statistics.hpp"
#include "morton/tools/kernel.hpp"

namespace morton {

/// What a step asks of a GPU by its compiler, in microseconds. All work-items count, idle ones too,
/// and all code outside of the hot loop once, whichever branch is taken.
struct StaticBound {
  double arithmetic_us = 0.0;  ///< of the busiest unit at the GPU's peak
  double memory_us = 0.0;      ///< of its operands, once, at the memory's bandwidth

  /// The larger one.
  [[nodiscard]] double us() const { return arithmetic_us > memory_us ? arithmetic_us : memory_us; }
};

/// The bound of a kernel as it is launched, on a device with these facts.
[[nodiscard]] MORTON_API StaticBound static_bound(const KernelText& kernel,
                                                  const CompilerStatistics& statistics,
                                                  const std::string& device_json);

}  // namespace morton
