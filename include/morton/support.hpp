// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "morton/compile.hpp"
#include "morton/error.hpp"
#include "morton/export.hpp"
#include "morton/message.hpp"
#include "morton/model.hpp"

namespace morton {

/// A node of a model, and whether Morton can compute it.
struct NodeSupport {
  std::string node, op;
  enum class Where : std::uint8_t {
    device,
    host,         ///< when the model is compiled: arithmetic of shapes, and what is constant
    nowhere,      ///< nothing is to be computed: it gives its input's elements another name
    waits,        ///< a run waits before it or carries it out (SegmentedSession); `reason` says why
    unsupported,  ///< `reason` says why
    unknown,      ///< it depends on a node that waits or is unsupported, which `reason` names
  } where = Where::device;
  Message reason;
};

/// Whether Morton can compute a model, node by node.
struct ModelSupport {
  std::vector<NodeSupport> nodes;  ///< those that an output depends on, in the model's order
  /// Why only what needs no shapes was looked at (an extent is open); empty where all was.
  Message shapes_unknown;

  /// False where a node is unsupported.
  [[nodiscard]] MORTON_API bool is_supported() const;
};

/// Looks at every node, also of a model that cannot be planned: its operator, its attributes, what
/// follows from the shapes that `options` give, and whether some kernel computes it on a device
/// that has all optional features. Nothing is built or run. Throws UsageError for options that the
/// model does not fit, and ModelError for what is wrong with no single node.
[[nodiscard]] MORTON_API ModelSupport model_support(const Model& model,
                                                    const CompileOptions& options = {});

/// Where the items of a batch lie in a model's inputs and outputs.
struct BatchItems {
  /// For each input the dimension that counts them; none of an input that all of them share.
  std::vector<std::optional<std::size_t>> inputs;
  std::vector<std::size_t> outputs;  ///< for each output
  /// Why callers cannot share a batch; empty where they can. With it both lists are empty.
  Message obstacle;
};

/// Proves that an item of each output follows from the same item of the inputs alone, whatever the
/// batch: then inputs of several callers may be computed as one batch. Other open extents are as
/// `options` says. Nothing is built. Throws UsageError for options that the model does not fit.
[[nodiscard]] MORTON_API BatchItems batch_items(const Model& model,
                                                const CompileOptions& options = {});

/// Why the model cannot be trained (a node without a gradient, no parameter, several inputs), or an
/// empty text. Whether a loss fits its output is not looked at. Open extents but the batch are
/// taken as `options` says; where one stays open the text says so. Nothing is built.
[[nodiscard]] MORTON_API Message training_obstacle(const Model& model,
                                                   const CompileOptions& options = {});

/// Throws UnsupportedError or ModelError that names every node which no operator here can be,
/// whatever the shapes.
MORTON_API void require_supported(const Model& model);

}  // namespace morton
