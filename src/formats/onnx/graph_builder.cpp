// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/graph_builder.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "formats/onnx/onnx_facts.hpp"
#include "formats/onnx/onnx_import.hpp"
#include "formats/onnx/onnx_labels.hpp"
#include "formats/onnx/onnx_node.hpp"
#include "formats/onnx/onnx_value_type.hpp"
#include "ops/core/operator.hpp"

namespace morton::formats {
namespace {

constexpr std::size_t kLongestOnnxName = 4096;

bool is_default_domain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

/// The name of the operator, where it is of the node's domain: ONNX's own or "morton". Else the
/// name with its domain before it ("com.microsoft.Name", "ai.onnx.Chain"), which no operator has.
std::string operator_name(const onnx::NodeProto& proto) {
  const bool is_default = is_default_domain(proto.domain());
  if (!is_default && proto.domain() != kMortonDomain) {
    return proto.domain() + "." + proto.op_type();
  }
  const auto home = is_default ? Operator::Home::onnx : Operator::Home::morton;
  const Operator* op = find_operator(proto.op_type());
  if (op != nullptr && op->home == home) return proto.op_type();
  if (op == nullptr && is_default) return proto.op_type();
  return (is_default ? "ai.onnx" : proto.domain()) + "." + proto.op_type();
}

}  // namespace

Graph GraphBuilder::build() {
  const onnx::GraphProto& proto = scanned_.model.graph();
  graph_.name = proto.name();
  graph_.opset = opset();
  graph_.facts = facts_in(scanned_);
  for (NamedTensor& initializer : scanned_.initializers) {
    add_constant(initializer.name, std::move(initializer.tensor));
  }
  scanned_.initializers.clear();
  for (const onnx::ValueInfoProto& input : proto.input()) add_input(input);
  add_nodes(*scanned_.model.mutable_graph());
  if (graph_.outputs.empty()) throw ModelError(where_ + ": the graph has no output");
  label_texts(graph_, scanned_.texts, where_);
  verify(graph_, where_ + ": import");
  return std::move(graph_);
}

Graph GraphBuilder::build_body(onnx::GraphProto& proto) {
  graph_.name = proto.name();
  graph_.opset = outside_->graph_.opset;
  if (proto.sparse_initializer_size() > 0) {
    throw UnsupportedError(where_ + ": has a sparse initializer");
  }
  for (const onnx::TensorProto& initializer : proto.initializer()) {
    const std::string here = where_ + ": initializer " + in_quotes(initializer.name());
    add_constant(initializer.name(), to_tensor(initializer, nullptr, external_, here));
  }
  for (const onnx::ValueInfoProto& input : proto.input()) add_formal(input);
  add_nodes(proto);
  verify(graph_, where_);
  return std::move(graph_);
}

void GraphBuilder::add_nodes(onnx::GraphProto& proto) {
  written_ = calls_->nodes_of(proto, where_, open_);
  // Outputs first, so that nodes may stand in any order.
  for (std::size_t i = 0; i < written_.size(); ++i) {
    external_.budget().require_time(where_);
    declare_node(i);
  }
  for (const auto& [written, index] : waiting_) {
    wire_inputs(written_[written].proto, graph_.nodes[index]);
    wire_bodies(written_[written], graph_.nodes[index]);
  }
  for (const onnx::ValueInfoProto& output : proto.output()) add_output(output);
  sort_topologically(graph_);
}

std::int64_t GraphBuilder::opset() const {
  for (const onnx::OperatorSetIdProto& import : scanned_.model.opset_import()) {
    if (import.domain() == kMlDomain && import.version() > kNewestMlOpset) {
      throw UnsupportedError(where_ + ": needs version " + std::to_string(import.version()) +
                             " of the operator set ai.onnx.ml; Morton reads 1 to " +
                             std::to_string(kNewestMlOpset));
    }
  }
  for (const onnx::OperatorSetIdProto& import : scanned_.model.opset_import()) {
    if (!is_default_domain(import.domain())) continue;
    if (import.version() >= kLeastOpset && import.version() <= kMostOpset) return import.version();
    throw UnsupportedError(where_ + ": needs ONNX operator set " +
                           std::to_string(import.version()) + "; Morton reads " +
                           std::to_string(kLeastOpset) + " to " + std::to_string(kMostOpset) +
                           " (onnx.version_converter changes it)");
  }
  // Operators of other domains only; each is refused by its name.
  if (scanned_.model.opset_import_size() > 0) return kMostOpset;
  throw ModelError(where_ + ": not an ONNX model: it names no version of ONNX's operator set");
}

std::int64_t GraphBuilder::opset_of_function(const WrittenNode& node,
                                             const std::string& here) const {
  const std::int64_t opset = node.opset == 0 ? opset_of_nodes_ : node.opset;
  if (opset == 0 || opset == graph_.opset) return 0;
  if (opset >= kLeastOpset && opset <= kMostOpset) return opset;
  throw UnsupportedError(here + ": its function needs ONNX operator set " + std::to_string(opset) +
                         "; Morton reads " + std::to_string(kLeastOpset) + " to " +
                         std::to_string(kMostOpset));
}

bool GraphBuilder::has_default_opset() const {
  const auto& imports = scanned_.model.opset_import();
  return std::any_of(imports.begin(), imports.end(),
                     [](const auto& import) { return is_default_domain(import.domain()); });
}

TensorId GraphBuilder::add_tensor(GraphTensor tensor) {
  if (tensor.name.empty()) throw ModelError(where_ + ": an input or initializer has no name");
  if (tensor.name.size() > kLongestOnnxName) {
    throw ModelError(where_ + ": the name " + in_quotes(tensor.name) + " has more than " +
                     std::to_string(kLongestOnnxName) + " bytes");
  }
  const TensorId id = graph_.tensors.next_id();
  if (!ids_.emplace(tensor.name, id).second) {
    throw ModelError(where_ + ": tensor " + in_quotes(tensor.name) + " is defined twice");
  }
  return graph_.tensors.add(std::move(tensor));
}

void GraphBuilder::add_constant(const std::string& name, Tensor data) {
  add_tensor(graph::constant_tensor(name, std::move(data)));
}

void GraphBuilder::add_input(const onnx::ValueInfoProto& proto) {
  const auto known = ids_.find(proto.name());
  // Older models list their initializers among the inputs, as values that a caller may replace.
  if (known != ids_.end() && graph_.tensors[known->second].kind == GraphTensor::Kind::constant) {
    graph_.facts.replaceable.push_back(proto.name());
    return;
  }
  const std::string here = where_ + ": input " + in_quotes(proto.name());
  const std::int32_t type = value_type_of(proto.type(), here).tensor->elem_type();
  graph_.inputs.push_back(add_tensor(declared_input(proto, onnx_dtype(type, here), here)));
  if (has_notes(proto)) left_out(kNotesOfPorts);
}

void GraphBuilder::add_formal(const onnx::ValueInfoProto& proto) {
  // As with older models' inputs.
  if (const auto known = ids_.find(proto.name()); known != ids_.end()) {
    if (graph_.tensors[known->second].kind == GraphTensor::Kind::constant) return;
  }
  GraphTensor tensor;
  tensor.name = proto.name();
  tensor.kind = GraphTensor::Kind::input;
  // What is stated is kept for those who read the file that is written again; turns give values
  // their types.
  const OnnxValueType type = taken_apart(proto.type());
  const std::string here = where_ + ": input " + in_quotes(proto.name());
  const bool has_shape = type.tensor != nullptr && type.tensor->has_shape();
  if (has_shape || !type.form.is_tensor()) tensor = declared_input(proto, tensor.dtype, here);
  tensor.form.any_shape = !has_shape;
  if (type.tensor != nullptr && type.tensor->elem_type() != 0) {
    tensor.dtype = onnx_dtype(type.tensor->elem_type(), here);
  }
  graph_.inputs.push_back(add_tensor(std::move(tensor)));
}

void GraphBuilder::add_output(const onnx::ValueInfoProto& proto) {
  const TensorId id = resolve(proto.name());
  if (id == kNoTensor) {
    throw ModelError(where_ + ": nothing computes the output " + in_quotes(proto.name()));
  }
  graph_.outputs.push_back(id);
  if (has_notes(proto)) left_out(kNotesOfPorts);
  if (outside_ != nullptr) {
    if (!proto.has_type()) return;
    graph_.facts.stated_outputs[proto.name()] = proto.type().SerializeAsString();
    return;
  }
  take_declared_output(proto, where_ + ": output " + in_quotes(proto.name()), graph_.tensor(id));
}

void GraphBuilder::declare_node(std::size_t index) {
  const onnx::NodeProto& proto = written_[index].proto;
  const std::string name = unique_name(proto, index);
  const std::string here = where(proto, name);
  if (proto.op_type().empty()) throw ModelError(here + ": names no operator");
  if (has_notes(proto)) left_out("descriptions and metadata of nodes");
  std::map<std::string, Attribute> attributes =
      take_attributes(written_[index].proto, external_, here);
  if (operator_name(proto) == "Constant") {
    if (proto.output_size() != 1 || proto.input_size() != 0) {
      throw ModelError(here + ": a Constant has one output and no input");
    }
    add_constant(proto.output(0), constant_value(attributes, here));
    return;
  }
  Node node;
  node.op = operator_name(proto);
  if (is_default_domain(proto.domain()) && written_[index].opset == 0 && opset_of_nodes_ == 0 &&
      !has_default_opset()) {
    throw ModelError(here + ": the model names no version of ONNX's own operator set");
  }
  node.name = name;
  node.opset = opset_of_function(written_[index], here);
  node.attributes = std::move(attributes);
  for (const std::string& output : proto.output()) {
    GraphTensor tensor;
    tensor.name = output;
    tensor.labels = labels_of(node, static_cast<std::size_t>(&output - &*proto.output().begin()));
    node.outputs.push_back(output.empty() ? kNoTensor : add_tensor(std::move(tensor)));
  }
  while (!node.outputs.empty() && node.outputs.back() == kNoTensor) node.outputs.pop_back();
  if (node.outputs.empty()) throw ModelError(here + ": has no output");
  waiting_.emplace_back(index, graph_.nodes.size());
  graph_.nodes.push_back(std::move(node));
}

void GraphBuilder::wire_inputs(const onnx::NodeProto& proto, Node& node) {
  for (const std::string& input : proto.input()) {
    if (input.empty()) {
      node.inputs.push_back(kNoTensor);
      continue;
    }
    node.inputs.push_back(resolve(input));
    if (node.inputs.back() == kNoTensor) {
      throw ModelError(where(proto, node.name) + ": nothing computes its input " +
                       in_quotes(input));
    }
  }
  while (!node.inputs.empty() && node.inputs.back() == kNoTensor) node.inputs.pop_back();
}

void GraphBuilder::wire_bodies(WrittenNode& written, Node& node) {
  std::map<std::string, std::vector<std::string>> captured;
  for (onnx::AttributeProto& attribute : *written.proto.mutable_attribute()) {
    if (attribute.type() != onnx::AttributeProto::GRAPH) continue;
    const std::string here = where(written.proto, node.name) + ": " + attribute.name();
    GraphBuilder inside(*this, here, written);
    external_.budget().require_depth(inside.depth_, here);
    auto graph = std::make_shared<const Graph>(inside.build_body(*attribute.mutable_g()));
    const Body body{std::move(graph), inside.captured_.size()};
    node.inputs.resize(std::max(node.inputs.size(), body.formals()), kNoTensor);
    if (!node.bodies.emplace(attribute.name(), body).second) {
      throw ModelError(here + " is given twice");
    }
    captured[attribute.name()] = std::move(inside.captured_);
  }
  // In the bodies' order, which is not the file's.
  for (const auto& [name, values] : captured) {
    for (const std::string& value : values) node.inputs.push_back(resolve(value));
  }
}

bool GraphBuilder::knows(const std::string& name) const {
  return ids_.contains(name) || (outside_ != nullptr && outside_->knows(name));
}

TensorId GraphBuilder::resolve(const std::string& name) {
  if (const auto known = ids_.find(name); known != ids_.end()) return known->second;
  if (outside_ == nullptr || !outside_->knows(name)) return kNoTensor;
  GraphTensor tensor;
  tensor.name = name;
  tensor.kind = GraphTensor::Kind::input;
  const TensorId id = add_tensor(std::move(tensor));
  graph_.inputs.push_back(id);
  captured_.push_back(name);
  return id;
}

void GraphBuilder::left_out(const std::string& what) {
  GraphBuilder* whole = this;
  while (whole->outside_ != nullptr) whole = whole->outside_;
  whole->graph_.facts.left_out.insert(what);
}

std::string GraphBuilder::unique_name(const onnx::NodeProto& proto, std::size_t index) {
  if (proto.name().size() > kLongestOnnxName || proto.op_type().size() > kLongestOnnxName) {
    throw ModelError(where_ + ": node " + std::to_string(index) + ": a name has more than " +
                     std::to_string(kLongestOnnxName) + " bytes");
  }
  const std::string numbered = proto.op_type() + "_" + std::to_string(index);
  std::string name = proto.name().empty() ? numbered : proto.name();
  // Two nodes may share a name in ONNX; the later one also gets its number.
  while (!node_names_.insert(name).second) name += "_" + std::to_string(index);
  return name;
}

std::string GraphBuilder::where(const onnx::NodeProto& proto, const std::string& name) const {
  return where_ + ": node " + in_quotes(name) + " (" + in_quotes(proto.op_type()) + ")";
}

}  // namespace morton::formats
