// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "ops/core/operator.hpp"
#include "ops/core/transform_error.hpp"

namespace morton::ops {

/// Values of some of a graph's tensors, as a device (or a caller) has them.
using KnownValues = std::map<TensorId, Tensor>;

/// How much of a tensor is computed.
struct SampleOptions {
  /// Where the product that a tensor comes from takes more multiplications than this, only as many
  /// of its output channels are computed as fit; 0: all.
  std::int64_t most_multiplications = 0;
  /// Of the choice of channels.
  std::uint64_t seed = 1;
  /// Of convolutions: what the kernels that computed them may do.
  TransformError transform = {};
};

/// Some channels of a tensor.
struct ChannelChoice {
  std::size_t axis = 0;
  std::vector<std::int64_t> indices;  ///< in rising order
};

/// What a tensor must be, given others.
struct PartialReference {
  ReferenceTensor value;                  ///< of the chosen channels, if there is a choice
  std::optional<ChannelChoice> channels;  ///< nothing: all of the tensor
  std::vector<std::string> nodes;         ///< names of those between the known values and it
};

/// The reference of `target`, a computed tensor, from the nearest tensors before it that are known:
/// what `known` holds counts as exact, so an error in one layer is not carried to the next.
/// `graph` has its shapes inferred, and is as the model states it, so that what rewriting it has
/// joined or folded is computed node by node. Throws UsageError where `known` lacks an input of the
/// graph that the target depends on.
[[nodiscard]] MORTON_FOR_TOOLS PartialReference partial_reference(const Graph& graph,
                                                                  TensorId target,
                                                                  const KnownValues& known,
                                                                  const SampleOptions& options);

/// The chosen channels of a tensor.
[[nodiscard]] MORTON_FOR_TOOLS Tensor take(const Tensor& tensor, const ChannelChoice& choice);

}  // namespace morton::ops
