// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_export.hpp"

#include <onnx.pb.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/files/file.hpp"
#include "base/numbers/onnx_numbers.hpp"
#include "formats/onnx/onnx_lists.hpp"
#include "formats/onnx/onnx_node.hpp"
#include "formats/onnx/onnx_packed.hpp"
#include "morton/version.hpp"
#include "ops/core/operator.hpp"

namespace morton::formats {
namespace {

/// What protobuf can write in one message.
constexpr std::int64_t kMostBytes = std::numeric_limits<std::int32_t>::max();

/// The version of the file format that came with an operator set; older readers refuse later ones.
std::int64_t ir_version_of(std::int64_t opset) {
  if (opset <= 18) return 8;
  if (opset <= 22) return opset <= 20 ? 9 : 10;
  return opset == 28 ? 14 : std::min<std::int64_t>(opset - 12, 13);
}

std::int32_t onnx_type_of(DType type) {
  if (const std::optional<std::int32_t> number = onnx_number_of(type)) return *number;
  throw UnsupportedError("onnx: ONNX has no element type " + std::string(name_of(type)));
}

void describe_tensor(const Tensor& tensor, onnx::TensorProto& proto) {
  proto.set_data_type(onnx_type_of(tensor.dtype()));
  for (const std::int64_t extent : tensor.shape()) proto.add_dims(extent);
}

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

void write_node(const Graph& graph, const Node& node, onnx::NodeProto& proto) {
  if (!node.epilogue.is_identity() || !node.fused.empty()) {
    throw UnsupportedError("node '" + node.name + "' (" + node.op +
                           "): passes have fused others into it; write the graph as it was read");
  }
  if (!node.bodies.empty()) {
    throw UnsupportedError("node '" + node.name + "' (" + node.op +
                           "): control flow is not written to files");
  }
  const std::string domain = domain_of(node);
  if (domain.empty() && node.op.find('.') != std::string::npos) {
    throw UnsupportedError("node '" + node.name + "' (" + node.op +
                           "): operators that are not known are not written");
  }
  const auto name_of_tensor = [&](TensorId id) {
    return id == kNoTensor ? std::string() : graph.tensor(id).name;
  };
  proto.set_op_type(node.op.substr(node.op.rfind('.') + 1));
  if (!domain.empty()) proto.set_domain(domain);
  proto.set_name(node.name);
  for (const TensorId id : node.inputs) proto.add_input(name_of_tensor(id));
  for (const TensorId id : node.outputs) proto.add_output(name_of_tensor(id));
  for (const auto& [name, value] : node.attributes) {
    onnx::AttributeProto& attribute = *proto.add_attribute();
    attribute.set_name(name);
    std::visit(AttributeWriter{attribute}, as_in_file(node, name, value));
  }
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
  // A scalar has a shape too.
  if (!tensor.form.is_tensor()) (void)type.mutable_shape();
  const Shape& shape =
      tensor.kind == GraphTensor::Kind::constant ? tensor.data.shape() : tensor.shape;
  for (const std::int64_t extent : shape) type.mutable_shape()->add_dim()->set_dim_value(extent);
}

bool holds_data(const GraphTensor& tensor) {
  return tensor.kind == GraphTensor::Kind::constant || tensor.kind == GraphTensor::Kind::state;
}

void check_size(const Graph& graph) {
  std::int64_t bytes = 0;
  for (const GraphTensor& tensor : graph.tensors) {
    if (holds_data(tensor)) bytes += static_cast<std::int64_t>(tensor.data.bytes());
  }
  if (bytes < kMostBytes) return;
  throw UnsupportedError("the parameters take " + std::to_string(bytes) +
                         " bytes; an ONNX file with its weights inside holds less than 2 GiB");
}

/// The model without its graph.
onnx::ModelProto head_of(const Graph& graph) {
  onnx::ModelProto model;
  model.set_ir_version(ir_version_of(graph.opset));
  model.set_producer_name("morton");
  model.set_producer_version(MORTON_VERSION);
  model.add_opset_import()->set_version(graph.opset);
  std::set<std::string> domains;
  for (const Node& node : graph.nodes) domains.insert(domain_of(node));
  domains.erase("");
  for (const std::string& domain : domains) {
    onnx::OperatorSetIdProto& import = *model.add_opset_import();
    import.set_domain(domain);
    import.set_version(domain == kMlDomain ? kNewestMlOpset : 1);
  }
  return model;
}

/// The graph without its initializers.
onnx::GraphProto body_of(const Graph& graph) {
  onnx::GraphProto proto;
  // ONNX wants a name.
  proto.set_name(graph.name.empty() ? "graph" : graph.name);
  for (const TensorId id : graph.inputs) write_port(graph.tensor(id), *proto.add_input());
  for (const Node& node : graph.nodes) write_node(graph, node, *proto.add_node());
  for (const TensorId id : graph.outputs) write_port(graph.tensor(id), *proto.add_output());
  return proto;
}

/// A file in parts, so that the weights go from where they are to the disk: some of the parts are
/// the graph's own bytes.
class FileParts {
 public:
  explicit FileParts(const Graph& graph) {
    check(graph);
    std::vector<std::string> heads;
    const std::string body = body_of(graph).SerializeAsString();
    std::int64_t length = static_cast<std::int64_t>(body.size());
    for (const GraphTensor& tensor : graph.tensors) {
      if (!holds_data(tensor)) continue;
      heads.push_back(head_of_initializer(tensor));
      length += static_cast<std::int64_t>(heads.back().size()) +
                file_bytes(tensor.data.dtype(), tensor.data.size());
    }
    if (length > kMostBytes) {
      throw UnsupportedError(
          "the model is too large for an ONNX file, which holds less than 2 GiB");
    }
    own(head_of(graph).SerializeAsString() +
        field_start(onnx::ModelProto::kGraphFieldNumber, static_cast<std::size_t>(length)));
    auto head = heads.begin();
    for (const GraphTensor& tensor : graph.tensors) {
      if (!holds_data(tensor)) continue;
      own(std::move(*head++));
      if (is_packed(tensor.data.dtype())) {
        own(packed(tensor.data));
        continue;
      }
      parts_.emplace_back(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.bytes());
    }
    own(body);
  }

  [[nodiscard]] std::span<const std::string_view> parts() const { return parts_; }

 private:
  static void check(const Graph& graph) {
    if (!graph.updates.empty()) {
      throw UnsupportedError("graph '" + graph.name + "' renews the state '" +
                             graph.tensor(graph.updates[0].state).name +
                             "' at each run, which an ONNX file of inference cannot say; export "
                             "the network with the state's value instead");
    }
    check_size(graph);
  }

  static void append_varint(std::string& text, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text += static_cast<char>(value | 0x80);
    text += static_cast<char>(value);
  }

  /// What stands before the bytes of a field of known length.
  static std::string field_start(int field, std::size_t length) {
    constexpr std::uint64_t kLengthDelimited = 2;
    std::string text;
    append_varint(text, static_cast<std::uint64_t>(field) << 3 | kLengthDelimited);
    append_varint(text, length);
    return text;
  }

  /// All of an initializer but its bytes, which come last in it.
  static std::string head_of_initializer(const GraphTensor& tensor) {
    onnx::TensorProto proto;
    proto.set_name(tensor.name);
    describe_tensor(tensor.data, proto);
    const auto bytes =
        static_cast<std::size_t>(file_bytes(tensor.data.dtype(), tensor.data.size()));
    const std::string head =
        proto.SerializeAsString() + field_start(onnx::TensorProto::kRawDataFieldNumber, bytes);
    return field_start(onnx::GraphProto::kInitializerFieldNumber, head.size() + bytes) + head;
  }

  void own(std::string text) { parts_.emplace_back(own_.emplace_back(std::move(text))); }

  std::deque<std::string> own_;
  std::vector<std::string_view> parts_;
};

}  // namespace

std::string onnx_bytes(const Graph& graph) {
  const FileParts file(graph);
  std::string bytes;
  for (const std::string_view part : file.parts()) bytes += part;
  return bytes;
}

void export_onnx(const Graph& graph, const std::filesystem::path& path) {
  const FileParts file(graph);
  write_file_atomically(path, file.parts());
}

}  // namespace morton::formats
