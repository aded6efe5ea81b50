// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/device/device_info.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "morton/compile.hpp"
#include "passes/pipeline.hpp"

namespace morton::api {

/// What the passes take of the options.
[[nodiscard]] MORTON_FOR_TOOLS PassOptions pass_options_of(const CompileOptions& options);
/// The same for a device. GPUs have no kernels of codes that are faster than those of f32, so their
/// layers of dequantised codes stay in f32 (passes::compute_in_codes).
[[nodiscard]] MORTON_FOR_TOOLS PassOptions pass_options_of(const CompileOptions& options,
                                                           const DeviceInfo& device);

/// The same at other extents.
[[nodiscard]] PassOptions at_shapes(PassOptions passes, const InputShapes& shapes);

/// A model after its passes: the extents of its inputs are known.
class ModelAtShapes {
 public:
  /// Runs the passes. Throws what they throw, and UnsupportedError for a model with nodes that
  /// cannot be computed.
  MORTON_FOR_TOOLS ModelAtShapes(Model model, PassOptions passes);

  [[nodiscard]] const Model& model() const { return model_; }  ///< as loaded
  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] const PassOptions& passes() const { return passes_; }
  [[nodiscard]] const PassReport& report() const { return report_; }
  [[nodiscard]] double passes_ms() const { return passes_ms_; }

  /// The batch that devices share: the first extent of the inputs that leave it open. Where none
  /// does, their extent named "batch", else their first open one. Throws UnsupportedError for a
  /// model that leaves none open.
  [[nodiscard]] std::int64_t batch() const;

  /// The model at other extents. Throws what the passes throw.
  [[nodiscard]] ModelAtShapes at(const InputShapes& shapes) const;
  /// The model with another batch. Throws what `batch` and the passes throw.
  [[nodiscard]] ModelAtShapes with_rows(std::int64_t rows) const;

 private:
  Model model_;
  PassOptions passes_;
  Graph graph_;
  PassReport report_;
  double passes_ms_ = 0.0;
};

}  // namespace morton::api
