// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_graph_writer.hpp"

#include <map>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/numbers/onnx_numbers.hpp"
#include "formats/onnx/onnx_lists.hpp"
#include "formats/onnx/onnx_node.hpp"
#include "formats/onnx/onnx_packed.hpp"
#include "ops/core/operator.hpp"

namespace morton::formats {
namespace {

std::int32_t onnx_type_of(DType type) {
  if (const std::optional<std::int32_t> number = onnx_number_of(type)) return *number;
  throw UnsupportedError("onnx: ONNX has no element type " + std::string(name_of(type)));
}

}  // namespace

void describe_tensor(const Tensor& tensor, onnx::TensorProto& proto) {
  proto.set_data_type(onnx_type_of(tensor.dtype()));
  for (const std::int64_t extent : tensor.shape()) proto.add_dims(extent);
}

namespace {

void write_tensor(const Tensor& tensor, onnx::TensorProto& proto) {
  describe_tensor(tensor, proto);
  if (is_packed(tensor.dtype())) {
    proto.set_raw_data(packed(tensor));
  } else {
    proto.set_raw_data(tensor.data(), tensor.bytes());
  }
}

/// Writes the value of an attribute; one overload for each type.
struct AttributeWriter {
  onnx::AttributeProto& proto;

  void operator()(std::int64_t value) const {
    proto.set_type(onnx::AttributeProto::INT);
    proto.set_i(value);
  }
  void operator()(double value) const {
    proto.set_type(onnx::AttributeProto::FLOAT);
    proto.set_f(static_cast<float>(value));
  }
  void operator()(const std::string& value) const {
    proto.set_type(onnx::AttributeProto::STRING);
    proto.set_s(value);
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    proto.set_type(onnx::AttributeProto::INTS);
    for (const std::int64_t value : values) proto.add_ints(value);
  }
  void operator()(const std::vector<double>& values) const {
    proto.set_type(onnx::AttributeProto::FLOATS);
    for (const double value : values) proto.add_floats(static_cast<float>(value));
  }
  void operator()(const std::vector<std::string>& values) const {
    proto.set_type(onnx::AttributeProto::STRINGS);
    for (const std::string& value : values) proto.add_strings(value);
  }
  void operator()(const Tensor& value) const {
    proto.set_type(onnx::AttributeProto::TENSOR);
    write_tensor(value, *proto.mutable_t());
  }
};

/// Whose operator the node is, as a file names it: empty for ONNX's own.
std::string domain_of(const Node& node) {
  const Operator* op = find_operator(node.op);
  if (op != nullptr && op->home == Operator::Home::morton) return std::string(kMortonDomain);
  const bool is_of_other = op != nullptr && op->home == Operator::Home::other;
  return is_of_other ? node.op.substr(0, node.op.rfind('.')) : std::string();
}

void write_port(const GraphTensor& tensor, onnx::ValueInfoProto& proto) {
  proto.set_name(tensor.name);
  onnx::TypeProto* whole = proto.mutable_type();
  if (tensor.form.is_optional) whole = whole->mutable_optional_type()->mutable_elem_type();
  if (tensor.form.is_list) whole = whole->mutable_sequence_type()->mutable_elem_type();
  onnx::TypeProto::Tensor& type = *whole->mutable_tensor_type();
  type.set_elem_type(onnx_type_of(tensor.dtype));
  for (const Dimension& dimension : tensor.declared) {
    auto& written = *type.mutable_shape()->add_dim();
    if (dimension.symbol.empty()) {
      written.set_dim_value(dimension.value);
    } else {
      written.set_dim_param(dimension.symbol);
    }
  }
  if (!tensor.declared.empty() || tensor.form.any_shape) return;
  (void)type.mutable_shape();  // a scalar has one too
  const Shape& shape =
      tensor.kind == GraphTensor::Kind::constant ? tensor.data.shape() : tensor.shape;
  for (const std::int64_t extent : shape) type.mutable_shape()->add_dim()->set_dim_value(extent);
}

/// Writes the nodes of a graph, or of a body, which has the names of what it captures.
class NodeWriter {
 public:
  explicit NodeWriter(const Graph& graph) : graph_(graph) {}
  NodeWriter(const Body& body, const std::vector<std::string>& captured) : graph_(*body.graph) {
    for (std::size_t i = 0; i < captured.size(); ++i) {
      captured_[graph_.inputs[body.formals() + i]] = captured[i];
    }
  }

  void write(const Node& node, onnx::NodeProto& proto) const {
    if (!node.epilogue.is_identity() || !node.fused.empty()) {
      throw UnsupportedError("node '" + node.name + "' (" + node.op +
                             "): passes have fused others into it; write the graph as it was read");
    }
    const std::string domain = domain_of(node);
    if (domain.empty() && node.op.find('.') != std::string::npos) {
      throw UnsupportedError("node '" + node.name + "' (" + node.op +
                             "): operators that are not known are not written");
    }
    if (node.op == "Optional" && node.attributes.contains("type")) {
      throw UnsupportedError("node '" + node.name +
                             "' (Optional): an attribute that is a type is not written");
    }
    proto.set_op_type(node.op.substr(node.op.rfind('.') + 1));
    if (!domain.empty()) proto.set_domain(domain);
    proto.set_name(node.name);
    std::size_t operands = node.inputs.size();
    for (const auto& [name, body] : node.bodies) operands -= body.captured;
    std::size_t next = operands;
    for (const auto& [name, body] : node.bodies) {
      std::vector<std::string> captured;
      for (std::size_t i = 0; i < body.captured; ++i) {
        captured.push_back(name_of_tensor(node.inputs[next++]));
      }
      onnx::AttributeProto& attribute = *proto.add_attribute();
      attribute.set_name(name);
      attribute.set_type(onnx::AttributeProto::GRAPH);
      NodeWriter(body, captured).write_body(body, *attribute.mutable_g());
    }
    // Import adds these for what a body takes and the node does not give.
    const bool has_bodies = !node.bodies.empty();
    while (has_bodies && operands > 0 && node.inputs[operands - 1] == kNoTensor) --operands;
    for (std::size_t i = 0; i < operands; ++i) proto.add_input(name_of_tensor(node.inputs[i]));
    for (const TensorId id : node.outputs) proto.add_output(name_of_tensor(id));
    for (const auto& [name, value] : node.attributes) {
      onnx::AttributeProto& attribute = *proto.add_attribute();
      attribute.set_name(name);
      std::visit(AttributeWriter{attribute}, as_in_file(node, name, value));
    }
  }

 private:
  [[nodiscard]] std::string name_of_tensor(TensorId id) const {
    if (id == kNoTensor) return "";
    const auto outside = captured_.find(id);
    return outside != captured_.end() ? outside->second : graph_.tensor(id).name;
  }

  /// What its values are follows from the node.
  void write_body(const Body& body, onnx::GraphProto& proto) const {
    proto.set_name(graph_.name.empty() ? "body" : graph_.name);
    require_own_names();
    for (std::size_t i = 0; i < body.formals(); ++i) {
      write_port(graph_.tensor(graph_.inputs[i]), *proto.add_input());
    }
    for (const GraphTensor& tensor : graph_.tensors) {
      if (!holds_data(tensor)) continue;
      onnx::TensorProto& initializer = *proto.add_initializer();
      initializer.set_name(tensor.name);
      write_tensor(tensor.data, initializer);
    }
    for (const Node& node : graph_.nodes) write(node, *proto.add_node());
    for (const TensorId id : graph_.outputs) {
      onnx::ValueInfoProto& output = *proto.add_output();
      output.set_name(name_of_tensor(id));
      const auto stated = graph_.facts.stated_outputs.find(graph_.tensor(id).name);
      if (stated != graph_.facts.stated_outputs.end()) {
        (void)output.mutable_type()->ParseFromString(stated->second);
      }
    }
  }

  /// A body's tensor would hide the one from outside.
  void require_own_names() const {
    std::set<std::string> outside;
    for (const auto& [id, name] : captured_) outside.insert(name);
    for (const TensorId id : graph_.tensors.ids()) {
      if (captured_.contains(id) || !outside.contains(graph_.tensor(id).name)) continue;
      throw UnsupportedError("'" + graph_.tensor(id).name +
                             "' is a tensor of a body and one that the body reads from outside");
    }
  }

  const Graph& graph_;
  std::map<TensorId, std::string> captured_{};
};

void add_domains(const Graph& graph, std::set<std::string>& domains) {
  for (const Node& node : graph.nodes) {
    domains.insert(domain_of(node));
    for (const auto& [name, body] : node.bodies) add_domains(*body.graph, domains);
  }
}

}  // namespace

bool holds_data(const GraphTensor& tensor) {
  return tensor.kind == GraphTensor::Kind::constant || tensor.kind == GraphTensor::Kind::state;
}

std::set<std::string> domains_of(const Graph& graph) {
  std::set<std::string> domains;
  add_domains(graph, domains);
  domains.erase("");
  return domains;
}

onnx::GraphProto graph_without_initializers(const Graph& graph) {
  onnx::GraphProto proto;
  // ONNX wants a name.
  proto.set_name(graph.name.empty() ? "graph" : graph.name);
  if (!graph.facts.graph_description.empty()) proto.set_doc_string(graph.facts.graph_description);
  for (const TensorId id : graph.inputs) write_port(graph.tensor(id), *proto.add_input());
  const std::set<std::string> replaceable(graph.facts.replaceable.begin(),
                                          graph.facts.replaceable.end());
  for (const GraphTensor& tensor : graph.tensors) {
    if (!holds_data(tensor) || !replaceable.contains(tensor.name)) continue;
    write_port(tensor, *proto.add_input());
  }
  const NodeWriter writer(graph);
  for (const Node& node : graph.nodes) writer.write(node, *proto.add_node());
  for (const TensorId id : graph.outputs) write_port(graph.tensor(id), *proto.add_output());
  return proto;
}

}  // namespace morton::formats
