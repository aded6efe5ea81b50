// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace morton {

/// What one core computes with: the facts that the sizes of tiles follow from. A core of a GPU is
/// what executes the work-items that run in step.
struct CoreFacts {
  std::int64_t lanes = 16;                   ///< floats of a vector register; work-items in step
  std::int64_t vector_registers = 32;        ///< that a work-item's text can name
  std::int64_t multiply_adds_per_cycle = 1;  ///< vectors multiplied and added, begun in a cycle
  std::int64_t l1_bytes = 32 << 10, l2_bytes = 512 << 10;  ///< caches for data, of one core
  std::int64_t threads_per_core = 1;                       ///< hardware threads that share a core
  /// Instructions that add up products of bytes: a CPU's (VNNI, SDOT), or a GPU's by its driver.
  bool dot_products = false;
  /// By key in JSON ("lanes"), where the fact is from: "OpenCL", "/proc/cpuinfo", "/sys",
  /// "declared", or how it was guessed.
  std::map<std::string, std::string> sources;
};

/// Calls visit(key, member) for each fact; `Facts` is CoreFacts or const CoreFacts.
template <typename Facts, typename Visit>
void for_each_core_fact(Facts& core, const Visit& visit) {
  visit("lanes", core.lanes);
  visit("vector_registers", core.vector_registers);
  visit("multiply_adds_per_cycle", core.multiply_adds_per_cycle);
  visit("l1_bytes", core.l1_bytes);
  visit("l2_bytes", core.l2_bytes);
  visit("threads_per_core", core.threads_per_core);
  visit("dot_products", core.dot_products);
}

}  // namespace morton
