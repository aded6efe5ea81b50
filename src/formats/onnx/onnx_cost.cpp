// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_cost.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <onnx.pb.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/environment_variables.hpp"
#include "base/error.hpp"

namespace morton::formats {
namespace {

using CostWire = google::protobuf::internal::WireFormatLite;

/// What protobuf's objects take, with what the allocator adds.
constexpr std::int64_t kMessageBytes = 320;
constexpr std::int64_t kTextBytes = 64;
constexpr std::int64_t kNumberBytes = 8;
/// Protobuf itself goes no deeper.
constexpr int kDeepest = 100;

constexpr std::int64_t kLeastAllowed = std::int64_t{256} << 20;
constexpr std::int64_t kTimesTheFile = 8;

/// The message that a field of `kind` holds, where it is one.
std::optional<OnnxMessage> message_in(OnnxMessage kind, int field) {
  using Attribute = onnx::AttributeProto;
  using Graph = onnx::GraphProto;
  switch (kind) {
    case OnnxMessage::node:
      if (field == onnx::NodeProto::kAttributeFieldNumber) return OnnxMessage::attribute;
      break;
    case OnnxMessage::attribute:
      if (field == Attribute::kTFieldNumber || field == Attribute::kTensorsFieldNumber) {
        return OnnxMessage::tensor;
      }
      if (field == Attribute::kGFieldNumber || field == Attribute::kGraphsFieldNumber) {
        return OnnxMessage::graph;
      }
      if (field == Attribute::kTpFieldNumber || field == Attribute::kTypeProtosFieldNumber) {
        return OnnxMessage::type;
      }
      break;
    case OnnxMessage::graph:
      if (field == Graph::kNodeFieldNumber) return OnnxMessage::node;
      if (field == Graph::kInitializerFieldNumber) return OnnxMessage::tensor;
      if (field == Graph::kInputFieldNumber || field == Graph::kOutputFieldNumber ||
          field == Graph::kValueInfoFieldNumber) {
        return OnnxMessage::value;
      }
      break;
    case OnnxMessage::function:
      if (field == onnx::FunctionProto::kNodeFieldNumber) return OnnxMessage::node;
      break;
    case OnnxMessage::value:
      if (field == onnx::ValueInfoProto::kTypeFieldNumber) return OnnxMessage::type;
      break;
    case OnnxMessage::type:
    case OnnxMessage::shape:
      return OnnxMessage::shape;
    case OnnxMessage::tensor:
    case OnnxMessage::other:
      break;
  }
  return std::nullopt;
}

bool holds_numbers(OnnxMessage kind, int field) {
  using Attribute = onnx::AttributeProto;
  using Tensor = onnx::TensorProto;
  if (kind == OnnxMessage::attribute) {
    return field == Attribute::kFloatsFieldNumber || field == Attribute::kIntsFieldNumber;
  }
  return kind == OnnxMessage::tensor &&
         (field == Tensor::kDimsFieldNumber || field == Tensor::kFloatDataFieldNumber ||
          field == Tensor::kInt32DataFieldNumber || field == Tensor::kInt64DataFieldNumber ||
          field == Tensor::kDoubleDataFieldNumber || field == Tensor::kUint64DataFieldNumber);
}

/// Reads a message and those in it.
class CostReader {
 public:
  explicit CostReader(std::string_view bytes)
      : in_(reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size())),
        end_(static_cast<int>(bytes.size())) {}

  std::int64_t read(OnnxMessage kind) {
    read_message(kind, end_, 0);
    return cost_;
  }

 private:
  /// False where it is damaged.
  bool read_message(OnnxMessage kind, int end, int depth) {
    cost_ += kMessageBytes;
    if (depth > kDeepest) return false;
    while (in_.CurrentPosition() < end) {
      const std::uint32_t tag = in_.ReadTag();
      if (tag == 0 || !read_field(kind, tag, end, depth)) return false;
    }
    return true;
  }

  bool read_field(OnnxMessage kind, std::uint32_t tag, int end, int depth) {
    const int field = CostWire::GetTagFieldNumber(tag);
    if (CostWire::GetTagWireType(tag) != CostWire::WIRETYPE_LENGTH_DELIMITED) {
      cost_ += kNumberBytes;
      return CostWire::SkipField(&in_, tag);
    }
    std::uint32_t length = 0;
    if (!in_.ReadVarint32(&length)) return false;
    const int left = end - in_.CurrentPosition();
    if (left < 0 || length > static_cast<std::uint32_t>(left)) return false;
    if (const auto inner = message_in(kind, field)) {
      return read_message(*inner, in_.CurrentPosition() + static_cast<int>(length), depth + 1);
    }
    cost_ += holds_numbers(kind, field) ? kNumberBytes * std::int64_t{length}
                                        : kTextBytes + std::int64_t{length};
    return in_.Skip(static_cast<int>(length));
  }

  google::protobuf::io::CodedInputStream in_;
  int end_;
  std::int64_t cost_ = 0;
};

}  // namespace

std::int64_t parsed_bytes(OnnxMessage kind, std::string_view bytes) {
  return CostReader(bytes).read(kind);
}

std::int64_t most_parsed_bytes(std::int64_t file_bytes, std::int64_t asked_bytes) {
  if (asked_bytes > 0) return asked_bytes;
  const auto given = environment_variable("MORTON_MODEL_MEMORY");
  if (!given) return std::max(kLeastAllowed, kTimesTheFile * file_bytes);
  std::int64_t mebibytes = 0;
  const char* end = given->data() + given->size();
  const auto [stop, status] = std::from_chars(given->data(), end, mebibytes);
  if (status != std::errc() || stop != end || mebibytes < 1 || mebibytes > (1 << 30)) {
    throw UsageError("MORTON_MODEL_MEMORY is '" + *given + "', expected a number of MiB");
  }
  return mebibytes << 20;
}

}  // namespace morton::formats
