// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/sources.hpp"
#include "morton/compile.hpp"
#include "morton/model.hpp"
#include "morton/tensor.hpp"

namespace morton::cli {

/// Sets the shapes that the options leave open from what the sources hold. Throws UsageError where
/// a tensor contradicts the model.
void fit_shapes(const Sources& sources, const std::vector<PortInfo>& inputs,
                CompileOptions& options);

/// The inputs as far as the options settle their extents; open ones stay -1.
[[nodiscard]] std::vector<PortInfo> settled_inputs(std::vector<PortInfo> inputs,
                                                   const CompileOptions& options);

/// The tensors to run with: images fitted, sources stacked, f16 and f64 turned to f32 where the
/// model wants that (with a warning).
[[nodiscard]] std::vector<NamedTensor> assemble(const Sources& sources,
                                                const std::vector<PortInfo>& compiled_inputs);

/// Seeded random tensors of the inputs' shapes: reals uniform in [-1, 1), integers and booleans 0
/// or 1.
[[nodiscard]] std::vector<NamedTensor> random_inputs(const std::vector<PortInfo>& inputs,
                                                     std::uint64_t seed);

/// Which extent of a model's input or output counts its items: the open one named "batch", else the
/// first. R17's networks have inputs as columns.
[[nodiscard]] std::size_t batch_dimension(const PortInfo& port);

/// Whether every extent of the input is known.
[[nodiscard]] bool is_settled(const PortInfo& port);

/// Whether the input is one of those with these names, or an element of a list with one.
[[nodiscard]] bool is_among(const std::vector<std::string>& names, const std::string& input);

/// Of the inputs with these names, from whose values shapes follow: their tensors, as
/// CompileOptions::values takes them. Those that are not settled are left out.
[[nodiscard]] std::map<std::string, Tensor> planned_values(const std::vector<std::string>& names,
                                                           const Sources& sources,
                                                           const std::vector<PortInfo>& settled);

}  // namespace morton::cli
