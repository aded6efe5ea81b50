// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "morton/compare_models.hpp"
#include "morton/compile.hpp"
#include "morton/quantize.hpp"

namespace morton::api {

/// The values of one batch, by the tensors' names.
using BatchValues = std::map<std::string, Tensor>;

/// Makes computed tensors results of the graph.
void show(Graph& graph, const std::set<TensorId>& tensors);

/// Shows examples, spread evenly over the data, to graphs with the model's input.
class Calibration {
 public:
  /// Throws UsageError for a model with other inputs than one of f32, and for data that do not fit.
  Calibration(const Model& model, const Device& device, const Dataset& data,
              const QuantizeOptions& options, int walks);

  /// Runs the graph on each batch, and calls `look` with its outputs and its input.
  void walk(const Graph& graph, const std::function<void(const BatchValues&)>& look);
  [[nodiscard]] std::int64_t examples() const { return batches_.examples; }

 private:
  Device device_;
  std::string input_;
  Shape shape_;
  InputRuns batches_;
  std::function<void(double)> progress_;
  double done_ = 0.0, all_ = 1.0;  ///< batches, of all walks
};

}  // namespace morton::api
