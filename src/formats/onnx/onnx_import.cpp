// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_import.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"
#include "base/files/file.hpp"
#include "base/numbers/onnx_numbers.hpp"
#include "formats/onnx/onnx_dimensions.hpp"
#include "formats/onnx/onnx_functions.hpp"
#include "formats/onnx/onnx_labels.hpp"
#include "formats/onnx/onnx_node.hpp"
#include "formats/onnx/onnx_scan.hpp"
#include "ops/core/operator.hpp"

namespace morton::formats {
namespace {

constexpr std::size_t kLongestOnnxName = 4096;

/// Turns the messages of one model into a Graph.
class GraphBuilder {
 public:
  GraphBuilder(ScannedModel scanned, std::string where, ExternalData& external)
      : scanned_(std::move(scanned)), where_(std::move(where)), external_(external) {}

  Graph build() {
    const onnx::GraphProto& proto = scanned_.model.graph();
    graph_.name = proto.name();
    graph_.opset = opset();
    for (NamedTensor& initializer : scanned_.initializers) {
      add_constant(initializer.name, std::move(initializer.tensor));
    }
    scanned_.initializers.clear();
    for (const onnx::ValueInfoProto& input : proto.input()) add_input(input);
    written_ = nodes_without_calls(scanned_.model, where_);
    // Outputs first, so that nodes may stand in any order.
    for (std::size_t i = 0; i < written_.size(); ++i) declare_node(i);
    for (const auto& [node, index] : waiting_) wire_inputs(*node, graph_.nodes[index]);
    for (const onnx::ValueInfoProto& output : proto.output()) add_output(output);
    if (graph_.outputs.empty()) throw ModelError(where_ + ": the graph has no output");
    sort_topologically(graph_);
    label_texts(graph_, scanned_.texts, where_);
    verify(graph_, where_ + ": import");
    return std::move(graph_);
  }

 private:
  std::int64_t opset() const;
  bool has_default_opset() const;
  /// As `Node::opset`.
  std::int64_t opset_of_function(const WrittenNode& node, const std::string& here) const;
  TensorId add_tensor(GraphTensor tensor);
  void add_constant(const std::string& name, Tensor data);
  void add_input(const onnx::ValueInfoProto& proto);
  void add_output(const onnx::ValueInfoProto& proto);
  void declare_node(std::size_t index);
  void wire_inputs(const onnx::NodeProto& proto, Node& node) const;
  std::string unique_name(const onnx::NodeProto& proto, std::size_t index);
  /// "model.onnx: node 'C1' (Conv)", for messages.
  std::string where(const onnx::NodeProto& proto, const std::string& name) const;

  ScannedModel scanned_;
  std::vector<WrittenNode> written_;  ///< the nodes, those of called functions in their places
  std::string where_;
  ExternalData& external_;
  Graph graph_;
  std::unordered_map<std::string, TensorId> ids_;
  std::set<std::string> node_names_;
  std::vector<std::pair<const onnx::NodeProto*, std::size_t>> waiting_;  ///< and index in nodes
};

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
  if (node.opset == 0 || node.opset == graph_.opset) return 0;
  if (node.opset >= kLeastOpset && node.opset <= kMostOpset) return node.opset;
  throw UnsupportedError(here + ": its function needs ONNX operator set " +
                         std::to_string(node.opset) + "; Morton reads " +
                         std::to_string(kLeastOpset) + " to " + std::to_string(kMostOpset));
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
  GraphTensor tensor;
  tensor.name = name;
  tensor.kind = GraphTensor::Kind::constant;
  tensor.dtype = data.dtype();
  tensor.shape = data.shape();
  tensor.data = std::move(data);
  add_tensor(std::move(tensor));
}

void GraphBuilder::add_input(const onnx::ValueInfoProto& proto) {
  const auto known = ids_.find(proto.name());
  // Older models list their initializers among the inputs, as values that a caller may replace.
  if (known != ids_.end() && graph_.tensors[known->second].kind == GraphTensor::Kind::constant) {
    return;
  }
  const std::string here = where_ + ": input " + in_quotes(proto.name());
  if (!proto.type().has_tensor_type()) {
    throw UnsupportedError(here + " is no dense tensor (a sequence, map or sparse tensor)");
  }
  const onnx::TypeProto::Tensor& type = proto.type().tensor_type();
  if (!type.has_shape()) {
    throw UnsupportedError(here + " declares no shape; state its rank in the model");
  }
  GraphTensor tensor;
  tensor.name = proto.name();
  tensor.kind = GraphTensor::Kind::input;
  tensor.dtype = onnx_dtype(type.elem_type(), here);
  tensor.declared = declared_dimensions(proto, here);
  Shape fixed;
  for (const Dimension& dimension : tensor.declared) {
    if (dimension.symbol.empty()) fixed.push_back(dimension.value);
  }
  (void)element_count(fixed, here.c_str());
  if (fixed.size() == tensor.declared.size()) tensor.shape = fixed;
  graph_.inputs.push_back(add_tensor(std::move(tensor)));
}

void GraphBuilder::add_output(const onnx::ValueInfoProto& proto) {
  const auto known = ids_.find(proto.name());
  if (known == ids_.end()) {
    throw ModelError(where_ + ": nothing computes the output " + in_quotes(proto.name()));
  }
  GraphTensor& tensor = graph_.tensor(known->second);
  // What the model says of an output is for people; shape inference finds the truth.
  if (tensor.declared.empty() && proto.type().has_tensor_type()) {
    tensor.declared = declared_dimensions(proto, where_ + ": output " + in_quotes(proto.name()));
    const auto type = type_of_onnx(proto.type().tensor_type().elem_type());
    if (type && tensor.kind == GraphTensor::Kind::activation) tensor.dtype = *type;
  }
  graph_.outputs.push_back(known->second);
}

void GraphBuilder::declare_node(std::size_t index) {
  const onnx::NodeProto& proto = written_[index].proto;
  const std::string name = unique_name(proto, index);
  const std::string here = where(proto, name);
  if (proto.op_type().empty()) throw ModelError(here + ": names no operator");
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
  if (is_default_domain(proto.domain()) && written_[index].opset == 0 && !has_default_opset()) {
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
  waiting_.emplace_back(&proto, graph_.nodes.size());
  graph_.nodes.push_back(std::move(node));
}

void GraphBuilder::wire_inputs(const onnx::NodeProto& proto, Node& node) const {
  for (const std::string& input : proto.input()) {
    if (input.empty()) {
      node.inputs.push_back(kNoTensor);
      continue;
    }
    const auto known = ids_.find(input);
    if (known == ids_.end()) {
      throw ModelError(where(proto, node.name) + ": nothing computes its input " +
                       in_quotes(input));
    }
    node.inputs.push_back(known->second);
  }
  while (!node.inputs.empty() && node.inputs.back() == kNoTensor) node.inputs.pop_back();
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

Graph import_bytes(RawBytes bytes, const std::string& where, ExternalData& external) {
  ModelScanner scanner(std::move(bytes), where, external);
  return GraphBuilder(scanner.scan(), where, external).build();
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

}  // namespace

Graph import_onnx(const std::filesystem::path& path) {
  const auto file = std::make_shared<const MappedFile>(InputFile(path));
  ExternalData external(folder_of(path));
  return import_bytes({file->bytes(), file}, path.string(), external);
}

Graph import_onnx(std::string_view bytes, const std::string& where,
                  const std::filesystem::path& folder) {
  ExternalData external(folder);
  return import_bytes({bytes, nullptr}, where, external);
}

NamedTensor read_onnx_tensor(const std::filesystem::path& path) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  const std::string bytes = read_file(path, kMost);
  onnx::TensorProto proto;
  if (bytes.empty() || !proto.ParseFromString(bytes)) {
    throw ModelError(path.string() + ": not an ONNX tensor");
  }
  ExternalData external(folder_of(path));
  return {proto.name(), to_tensor(proto, nullptr, external, path.string())};
}

}  // namespace morton::formats
