// SPDX-License-Identifier: Apache-2.0
#include "passes/shapes/late_growth.hpp"

#include "passes/passes.hpp"

namespace morton::passes {

std::optional<std::size_t> grown_dimension(const GraphTensor& input, const GraphTensor& output) {
  if (input.dtype != output.dtype || input.shape.size() != output.shape.size()) return {};
  std::optional<std::size_t> grown;
  for (std::size_t d = 0; d < input.shape.size(); ++d) {
    if (input.shape[d] == output.shape[d]) continue;
    const bool is_open = d < input.declared.size() && !input.declared[d].symbol.empty();
    if (grown || !is_open || output.shape[d] < input.shape[d]) return {};
    grown = d;
  }
  return grown;
}

std::vector<Growing> growing_inputs(const Graph& graph, const PassOptions& options) {
  if (options.feeds.empty()) return {};
  Graph full = graph;
  PassOptions plain = options;
  plain.feeds.clear();
  infer_shapes(full, plain);
  std::vector<Growing> growing;
  for (const auto& [output, input] : options.feeds) {
    const TensorId from = full.find(output);
    const TensorId to = full.find(input);
    if (from == kNoTensor || to == kNoTensor) continue;  // feed_states tells of it
    const auto grown = grown_dimension(full.tensor(to), full.tensor(from));
    if (!grown) continue;
    const std::int64_t step = full.tensor(from).shape[*grown] - full.tensor(to).shape[*grown];
    growing.push_back({graph.find(input), graph.find(output), *grown, step});
  }
  return growing;
}

}  // namespace morton::passes
