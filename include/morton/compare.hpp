// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "morton/compile.hpp"
#include "morton/export.hpp"
#include "morton/tensor.hpp"

namespace morton {

/// The values of one layer of a compiled model, beside the right ones.
struct LayerComparison {
  std::string name;                  ///< of its result
  std::vector<std::string> nodes;    ///< the model's nodes that it stands for; of a file: none
  std::vector<std::string> kernels;  ///< in the order in which they ran
  Shape shape;
  DType dtype = DType::f32;
  std::int64_t elements = 0, checked = 0;
  std::int64_t finite = 0;  ///< of the checked ones, those that should be a finite number
  std::int64_t wrong = 0;
  double deviation = 0.0;      ///< standard deviation of what the device has: 0 of a dead layer
  double largest_error = 0.0;  ///< absolute
  /// Largest share of its bound that an element's error takes; above 1 where it is wrong.
  double largest_share = 0.0;
  std::string first_wrong;  ///< "element 17: expected 0.5 +- 1e-7, got 0.25"
};

/// Layers in the order in which they were computed, and what has nothing to compare with.
struct LayerReport {
  std::vector<LayerComparison> layers;
  /// Tensors of a file that the plan computes on the way, within a step, and never keeps.
  std::vector<std::string> not_kept;
};

/// How much of each layer is compared.
struct LayerOptions {
  /// Of a product that takes more multiplications only as many output channels are computed on the
  /// host as fit, drawn with `seed`; 0: all.
  std::int64_t most_multiplications = std::int64_t{50} << 20;
  std::uint64_t seed = 1;
  /// Names of the layers' results; empty: all layers.
  std::vector<std::string> only{};
  double slack = 1.0;  ///< how many times its bound an error may be
};

/// Runs the model once and compares each layer, from what the device computed before it, with the
/// reference in double: an element is wrong where it lies further away than rounding explains
/// (docs/numerics.md). The reference computes the nodes that the model states, so what passes and
/// fusion have made of them is compared too. For a model on one device. Throws what Session::run
/// throws.
[[nodiscard]] MORTON_API LayerReport compare_layers(const CompiledModel& model,
                                                    std::span<const NamedTensor> inputs,
                                                    const LayerOptions& options = {});

/// How far an element may lie from the one in a file: absolute + relative * |expected|.
struct Tolerance {
  double absolute = 1e-5, relative = 1e-3;
};

/// Runs the model once and compares it with tensors by their names: outputs, or what any node
/// computes. Throws UsageError for a name that the model has not, or another shape.
[[nodiscard]] MORTON_API LayerReport compare_with(const CompiledModel& model,
                                                  std::span<const NamedTensor> inputs,
                                                  std::span<const NamedTensor> expected,
                                                  const Tolerance& tolerance = {});

}  // namespace morton
