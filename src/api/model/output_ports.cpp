// SPDX-License-Identifier: Apache-2.0
#include "api/model/output_ports.hpp"

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "passes/passes.hpp"

namespace morton::api {
namespace {

/// The graph with its shapes, where open extents are `batch` in front and `side` elsewhere; nothing
/// where the model does not take them.
std::optional<Graph> with_extents(Graph graph, std::int64_t batch, std::int64_t side) {
  PassOptions options;
  options.batch = batch;
  for (const TensorId id : graph.inputs) {
    if (!graph.tensor(id).form.is_tensor()) continue;
    Shape shape;
    for (const Dimension& dimension : graph.tensor(id).declared) {
      const std::int64_t open = shape.empty() ? batch : side;
      shape.push_back(dimension.symbol.empty() ? dimension.value : open);
    }
    options.shapes[graph.tensor(id).name] = shape;
  }
  try {
    bind_shapes(graph, options);
    infer_shapes(graph, options);
  } catch (const Error&) {
    return std::nullopt;
  }
  return graph;
}

/// The name of the inputs' only open extent in front; empty where there are several.
std::string symbol_of_batch(const Graph& graph) {
  std::string symbol;
  for (const TensorId id : graph.inputs) {
    const auto& declared = graph.tensor(id).declared;
    if (declared.empty() || declared.front().symbol.empty()) continue;
    if (!symbol.empty() && symbol != declared.front().symbol) return {};
    symbol = declared.front().symbol;
  }
  return symbol;
}

void take_extents(PortInfo& port, const Shape& small, const Shape& large, std::int64_t batch,
                  const std::string& symbol) {
  for (std::size_t d = 0; d < small.size(); ++d) {
    const bool is_open = small[d] != large[d];
    port.shape.push_back(is_open ? -1 : small[d]);
    const bool is_batch = is_open && small[d] == batch;
    port.symbols.push_back(is_batch ? symbol : std::string());
  }
}

}  // namespace

PortInfo to_port(const GraphTensor& tensor) {
  PortInfo port;
  port.name = tensor.name;
  port.dtype = tensor.dtype;
  for (const auto& dimension : tensor.declared) {
    port.shape.push_back(dimension.symbol.empty() ? dimension.value : -1);
    port.symbols.push_back(dimension.symbol);
  }
  port.labels = tensor.labels;
  port.form = tensor.form;
  return port;
}

std::vector<PortInfo> output_ports(const Graph& graph) {
  std::vector<PortInfo> ports;
  for (const TensorId id : graph.outputs) ports.push_back(to_port(graph.tensor(id)));
  const bool all_declared = std::ranges::none_of(
      graph.outputs, [&](TensorId id) { return graph.tensor(id).declared.empty(); });
  if (all_declared) return ports;
  // Sizes that most networks of images and words take.
  constexpr std::int64_t kBatch = 2;
  const auto small = with_extents(graph, kBatch, 64);
  const auto large = with_extents(graph, kBatch + 1, 96);
  if (!small || !large) return ports;
  const std::string symbol = symbol_of_batch(graph);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (!ports[i].form.is_tensor()) continue;
    const GraphTensor& tensor = small->tensor(graph.outputs[i]);
    const Shape other = large->tensor(graph.outputs[i]).shape;
    ports[i].dtype = tensor.dtype;
    if (!ports[i].shape.empty() || tensor.shape.size() != other.size()) continue;
    take_extents(ports[i], tensor.shape, other, kBatch, symbol);
  }
  for (const OutputCount& late : small->counts) {
    const auto place = std::ranges::find(graph.outputs, late.output) - graph.outputs.begin();
    PortInfo& port = ports[static_cast<std::size_t>(place)];
    if (late.dimension < port.shape.size()) port.shape[late.dimension] = -1;
  }
  return ports;
}

}  // namespace morton::api
