// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "morton/export.hpp"
#include "morton/model.hpp"

namespace morton {

/// A network of the literature that `new_model` makes.
struct ArchitectureInfo {
  std::string name;
  std::string summary;  ///< one line
};

/// All of them, in the order in which messages list them.
[[nodiscard]] MORTON_API std::vector<ArchitectureInfo> architectures();

/// The network with random weights: He's scheme, the same for the same seed. Throws UsageError that
/// lists the architectures.
[[nodiscard]] MORTON_API Model new_model(const std::string& architecture, std::uint64_t seed);

}  // namespace morton
