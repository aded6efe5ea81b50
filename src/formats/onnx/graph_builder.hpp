// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx.pb.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "formats/onnx/onnx_functions.hpp"
#include "formats/onnx/onnx_scan.hpp"
#include "graph/graph.hpp"

namespace morton::formats {

/// Turns the messages of a model into a Graph, and those of bodies of control flow into theirs.
class GraphBuilder {
 public:
  GraphBuilder(ScannedModel& scanned, std::string where, ExternalData& external)
      : scanned_(scanned),
        where_(std::move(where)),
        external_(external),
        calls_(std::make_shared<FunctionCalls>(scanned.model, where_, external.budget())) {}

  /// The model's graph. Throws ModelError, UnsupportedError.
  [[nodiscard]] Graph build();

 private:
  /// Of a body that stands in the node `written` of `outside`.
  GraphBuilder(GraphBuilder& outside, std::string where, const WrittenNode& written)
      : scanned_(outside.scanned_),
        where_(std::move(where)),
        external_(outside.external_),
        calls_(outside.calls_),
        outside_(&outside),
        depth_(outside.depth_ + 1),
        opset_of_nodes_(written.opset == 0 ? outside.opset_of_nodes_ : written.opset),
        open_(written.open) {}
  Graph build_body(onnx::GraphProto& proto);

  void add_nodes(onnx::GraphProto& proto);
  std::int64_t opset() const;
  bool has_default_opset() const;
  /// As `Node::opset`.
  std::int64_t opset_of_function(const WrittenNode& node, const std::string& here) const;
  TensorId add_tensor(GraphTensor tensor);
  void add_constant(const std::string& name, Tensor data);
  void add_input(const onnx::ValueInfoProto& proto);
  void add_formal(const onnx::ValueInfoProto& proto);
  void add_output(const onnx::ValueInfoProto& proto);
  void declare_node(std::size_t index);
  void wire_inputs(const onnx::NodeProto& proto, Node& node);
  void wire_bodies(WrittenNode& written, Node& node);
  /// The value named so: one of this graph, or one of the outside, which becomes an input here.
  TensorId resolve(const std::string& name);
  [[nodiscard]] bool knows(const std::string& name) const;
  /// Tells of something that the file holds and a graph does not.
  void left_out(const std::string& what);
  std::string unique_name(const onnx::NodeProto& proto, std::size_t index);
  /// "model.onnx: node 'C1' (Conv)", for messages.
  std::string where(const onnx::NodeProto& proto, const std::string& name) const;

  ScannedModel& scanned_;
  std::vector<WrittenNode> written_;  ///< the nodes, those of called functions in their places
  std::string where_;
  ExternalData& external_;
  std::shared_ptr<FunctionCalls> calls_;          ///< of the model
  GraphBuilder* outside_ = nullptr;               ///< of a body
  std::int64_t depth_ = 0;                        ///< of a body, 1 where the outside is the model
  std::int64_t opset_of_nodes_ = 0;               ///< of a body
  std::vector<const onnx::FunctionProto*> open_;  ///< of a body, as WrittenNode::open
  std::vector<std::string> captured_;  ///< of a body: values of the outside, its last inputs
  Graph graph_;
  std::map<std::string, TensorId> ids_;
  std::set<std::string> node_names_;
  std::vector<std::pair<std::size_t, std::size_t>> waiting_;  ///< indices in written_ and nodes
};

}  // namespace morton::formats
