// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <google/protobuf/io/coded_stream.h>
#include <onnx.pb.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "formats/onnx/onnx_cost.hpp"
#include "formats/onnx/onnx_labels.hpp"
#include "formats/onnx/onnx_tensor.hpp"

namespace morton::formats {

/// A model file, taken apart: the messages without their initializers, and these as tensors.
struct ScannedModel {
  onnx::ModelProto model;
  std::vector<NamedTensor> initializers;
  TextConstants texts;             ///< of those initializers that hold texts' places
  std::set<std::string> left_out;  ///< as FileFacts has them
};

/// Reads an ONNX model front to back. The bytes of a large initializer stay where they are in a
/// mapped file, and only what describes the graph becomes protobuf messages, so that loading takes
/// little memory. Shape notes on inner values, training information and annotations of quantization
/// are left out.
class ModelScanner {
 public:
  /// `where` names the model in messages.
  ModelScanner(RawBytes model, std::string where, ExternalData& external);
  /// Throws ModelError ("not an ONNX model: ...") and UnsupportedError.
  [[nodiscard]] ScannedModel scan();

 private:
  /// What is copied for protobuf to parse.
  struct Skeleton {
    std::string model;
    std::string graph;
  };

  void scan_graph(std::uint32_t graph_tag, Skeleton& skeleton);
  void scan_initializer(std::uint32_t initializer_tag);
  /// The tag of the next field of the message that is being read.
  std::uint32_t next_tag();
  /// The length of the field whose tag was just read, which lies inside the message.
  int next_length(std::uint32_t tag);
  /// Reads over the field of `tag`.
  void skip(std::uint32_t tag);
  /// Appends the field of `tag`, a message of this kind where it is one, to `to`.
  void copy_field(std::uint32_t tag, OnnxMessage kind, std::string& to);
  /// Counts what a message takes in memory. Throws UnsupportedError beyond what is allowed.
  void charge(OnnxMessage kind, std::string_view content);
  [[noreturn]] void fail(const std::string& what) const;

  google::protobuf::io::CodedInputStream in_;
  RawBytes model_;
  std::string where_;
  ExternalData& external_;
  std::vector<NamedTensor> initializers_;
  TextConstants texts_;
  std::set<std::string> left_out_;
  std::int64_t allowed_ = 0;  ///< bytes of memory that messages may take
  std::int64_t taken_ = 0;
};

}  // namespace morton::formats
