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

/// The model with `classes` answers in place of its own, to be trained on other data: the layer
/// that makes them, the last Gemm, MatMul or Conv before the one output, gets weights for so many.
/// They are new, of He's scheme and `seed`; biases begin at 0. All other weights stay. Throws
/// UsageError that names the node which stands in the way.
[[nodiscard]] MORTON_API Model with_classes(const Model& model, std::int64_t classes,
                                            std::uint64_t seed = 1);

}  // namespace morton
