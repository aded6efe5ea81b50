// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_export.hpp"

#include <onnx.pb.h>

#include <deque>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/files/file.hpp"
#include "formats/onnx/onnx_facts.hpp"
#include "formats/onnx/onnx_graph_writer.hpp"
#include "formats/onnx/onnx_packed.hpp"
#include "graph/parameter_bytes.hpp"

namespace morton::formats {
namespace {

/// What protobuf can write in one message.
constexpr std::int64_t kMostBytes = std::numeric_limits<std::int32_t>::max();

void check_size(const Graph& graph) {
  const std::int64_t bytes = graph::parameter_bytes(graph);
  if (bytes < kMostBytes) return;
  throw UnsupportedError("the parameters take " + std::to_string(bytes) +
                         " bytes; an ONNX file with its weights inside holds less than 2 GiB");
}

/// A file in parts, so that the weights go from where they are to the disk: some of the parts are
/// the graph's own bytes.
class FileParts {
 public:
  explicit FileParts(const Graph& graph) {
    check(graph);
    std::vector<std::string> heads;
    const std::string body = graph_without_initializers(graph).SerializeAsString();
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
    own(model_without_graph(graph).SerializeAsString() +
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
