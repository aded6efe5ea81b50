// SPDX-License-Identifier: Apache-2.0
#include "graph/graph_digest.hpp"

#include "base/files/archive.hpp"
#include "base/files/file.hpp"
#include "graph/growth_archive.hpp"

namespace morton {

template <>
struct LastOf<graph::GraphTensor::Kind> {
  static constexpr auto value = graph::GraphTensor::Kind::activation;
};

}  // namespace morton

namespace morton::graph {

template <typename Archive, Archived<Dimension> T>
void visit(Archive& archive, T& dimension) {
  auto& [value, symbol] = dimension;
  archive(value, symbol);
}

template <typename Archive, Archived<GraphTensor> T>
void visit(Archive& archive, T& tensor) {
  auto& [name, dtype, kind, declared, shape, data, labels, form] = tensor;
  archive(name, dtype, kind, declared, shape, labels, form.is_list, form.is_optional,
          form.any_shape, data.dtype(), data.shape(),
          digest_of({reinterpret_cast<const char*>(data.stored()), data.bytes()}));
  data.drop_pages();
}

template <typename Archive, Archived<Node> T>
void visit(Archive& archive, T& node) {
  auto& [op, name, inputs, outputs, attributes, epilogue, fused, copy, opset, bodies] = node;
  archive(op, name, inputs, outputs, attributes, epilogue.print(), fused, copy, opset);
  for (const auto& [attribute, body] : bodies) {
    archive(attribute, graph_digest(*body.graph), body.captured);
  }
}

template <typename Archive, Archived<StateUpdate> T>
void visit(Archive& archive, T& update) {
  auto& [state, value] = update;
  archive(state, value);
}

template <typename Archive, Archived<OutputCount> T>
void visit(Archive& archive, T& late) {
  auto& [output, dimension, count] = late;
  archive(output, dimension, count);
}

std::string graph_digest(const Graph& graph) {
  // Nothing is computed from the facts.
  const auto& [name, opset, tensors, nodes, inputs, outputs, updates, counts, counting, growths,
               facts] = graph;
  ArchiveWriter writer;
  writer(name, opset, tensors, nodes, inputs, outputs, updates, counts, counting, growths);
  return digest_of(writer.take());
}

}  // namespace morton::graph
