// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <sstream>
#include <string>

#include "base/files/file.hpp"
#include "base/rooms.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace morton::passes {
namespace {

/// Constants up to this size are compared: scalars and lists that exporters write again and again.
constexpr std::size_t kLargestBytes = 4096;

std::string key_of(const Tensor& tensor) {
  const std::string_view bytes(reinterpret_cast<const char*>(tensor.data()), tensor.bytes());
  return std::string(name_of(tensor.dtype())) + " " + to_string(tensor.shape()) + " " +
         digest_of(bytes);
}

struct AttributeText {
  std::ostringstream& out;

  void operator()(std::int64_t value) const { out << "i" << value; }
  void operator()(double value) const { out << "r" << std::hexfloat << value; }
  void operator()(const std::string& value) const { out << "s" << value.size() << ":" << value; }
  void operator()(const Tensor& value) const { out << "t" << key_of(value); }
  template <typename T>
  void operator()(const std::vector<T>& values) const {
    out << "l" << values.size();
    for (const T& value : values) (*this)(value);
  }
};

/// What the node computes: two nodes of one text have equal outputs.
std::string key_of(const Node& node) {
  std::ostringstream out;
  out << node.op << "|" << node.opset << "|" << node.copy << "|" << node.outputs.size();
  for (const TensorId id : node.outputs) out << (id == kNoTensor ? "-" : "+");
  for (const TensorId id : node.inputs) out << "|" << id.index();
  for (const auto& [name, value] : node.attributes) {
    out << "|" << name << "=";
    std::visit(AttributeText{out}, value);
  }
  out << "|" << node.epilogue.print();
  return out.str();
}

int merge_constants(Graph& graph) {
  std::map<std::string, TensorId> known;
  std::map<TensorId, TensorId> same;
  for (const TensorId id : graph.tensors.ids()) {
    const Tensor* data = constant_data(graph, id);
    if (data == nullptr || data->bytes() > kLargestBytes || graph.is_result(id)) continue;
    const auto [first, added] = known.emplace(key_of(*data), id);
    if (!added) same.emplace(id, first->second);
  }
  for (Node& node : graph.nodes) {
    for (TensorId& id : node.inputs) {
      if (const auto found = same.find(id); found != same.end()) id = found->second;
    }
  }
  return static_cast<int>(same.size());
}

bool makes_results(const Graph& graph, const Node& node) {
  return std::any_of(node.outputs.begin(), node.outputs.end(),
                     [&](TensorId id) { return id != kNoTensor && graph.is_result(id); });
}

int merge_nodes(Graph& graph) {
  std::map<std::string, std::size_t> known;
  std::vector<Node> kept;
  int merged = 0;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    // Earlier merges have renamed its inputs, so it is read only now.
    const Node node = graph.nodes[n];
    const bool may_go = !makes_results(graph, node);
    const auto [first, added] = known.emplace(key_of(node), kept.size());
    if (added || !may_go) {
      kept.push_back(node);
      continue;
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoTensor) continue;
      redirect_readers(graph, node.outputs[i], kept[first->second].outputs[i]);
    }
    ++merged;
  }
  graph.nodes = std::move(kept);
  return merged;
}

}  // namespace

int merge_equal_nodes(Graph& graph, const PassOptions& /*options*/) {
  const int constants = merge_constants(graph);
  return constants + merge_nodes(graph);
}

}  // namespace morton::passes
