// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_scan.hpp"

#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "formats/onnx/foreign_file.hpp"

namespace morton::formats {
namespace {

using Wire = google::protobuf::internal::WireFormatLite;

// Protobuf counts the bytes of a message in an int.
constexpr std::size_t kMostFileBytes = std::numeric_limits<int>::max();
/// Inputs and outputs, of which no model has many.
constexpr std::int64_t kMostPorts = 1'000'000;

void append_varint(std::uint64_t value, std::string& to) {
  while (value >= 0x80) {
    to += static_cast<char>((value & 0x7f) | 0x80);
    value >>= 7;
  }
  to += static_cast<char>(value);
}

OnnxMessage kind_in_model(int field) {
  return field == onnx::ModelProto::kFunctionsFieldNumber ? OnnxMessage::function
                                                          : OnnxMessage::other;
}

/// Of any size: protobuf's own limit of a message is that of an int. The text is given back.
bool parse(std::string& text, google::protobuf::MessageLite& to) {
  const bool done = to.ParseFromString(text);
  text = {};
  return done;
}

}  // namespace

ModelScanner::ModelScanner(RawBytes model, std::string where, ExternalData& external)
    : in_(reinterpret_cast<const std::uint8_t*>(model.bytes.data()),
          static_cast<int>(std::min(model.bytes.size(), kMostFileBytes))),
      model_(std::move(model)),
      where_(std::move(where)),
      external_(external),
      allowed_(most_parsed_bytes(static_cast<std::int64_t>(model_.bytes.size()),
                                 external_.budget().limits().memory_bytes)) {}

void ModelScanner::fail(const std::string& what) const {
  const std::string_view foreign = what_file_is(model_.bytes);
  throw ModelError(where_ +
                   ": not an ONNX model: " + (foreign.empty() ? what : std::string(foreign)));
}

ScannedModel ModelScanner::scan() {
  const std::size_t bytes = model_.bytes.size();
  if (bytes == 0) fail("it is empty");
  if (bytes > kMostFileBytes) {
    throw UnsupportedError(where_ + ": " + std::to_string(bytes) + " bytes; at most " +
                           std::to_string(kMostFileBytes) +
                           " are read, so store large weights as external data");
  }
  in_.PushLimit(static_cast<int>(bytes));
  Skeleton skeleton;
  int graphs = 0;
  while (in_.BytesUntilLimit() > 0) {
    const std::uint32_t tag = next_tag();
    switch (Wire::GetTagFieldNumber(tag)) {
      case onnx::ModelProto::kGraphFieldNumber:
        if (++graphs > 1) fail("it holds two graphs");
        scan_graph(tag, skeleton);
        break;
      case onnx::ModelProto::kIrVersionFieldNumber:
      case onnx::ModelProto::kOpsetImportFieldNumber:
      case onnx::ModelProto::kFunctionsFieldNumber:
      case onnx::ModelProto::kProducerNameFieldNumber:
      case onnx::ModelProto::kProducerVersionFieldNumber:
      case onnx::ModelProto::kDomainFieldNumber:
      case onnx::ModelProto::kModelVersionFieldNumber:
      case onnx::ModelProto::kDocStringFieldNumber:
      case onnx::ModelProto::kMetadataPropsFieldNumber:
        copy_field(tag, kind_in_model(Wire::GetTagFieldNumber(tag)), skeleton.model);
        break;
      case onnx::ModelProto::kTrainingInfoFieldNumber:
        left_out_.insert("training information");
        skip(tag);
        break;
      default:
        skip(tag);
    }
  }
  if (graphs == 0) fail("it holds no graph");
  ScannedModel result;
  if (!parse(skeleton.model, result.model) ||
      !parse(skeleton.graph, *result.model.mutable_graph())) {
    fail("a message in it is damaged");
  }
  result.initializers = std::move(initializers_);
  result.texts = std::move(texts_);
  result.left_out = std::move(left_out_);
  return result;
}

void ModelScanner::scan_graph(std::uint32_t graph_tag, Skeleton& skeleton) {
  const auto outer = in_.PushLimit(next_length(graph_tag));
  std::int64_t values = 0;
  while (in_.BytesUntilLimit() > 0) {
    external_.budget().require_time(where_);
    const std::uint32_t tag = next_tag();
    switch (Wire::GetTagFieldNumber(tag)) {
      case onnx::GraphProto::kInitializerFieldNumber:
        scan_initializer(tag);
        break;
      case onnx::GraphProto::kSparseInitializerFieldNumber:
        throw UnsupportedError(where_ + ": the graph holds a sparse initializer");
      case onnx::GraphProto::kNodeFieldNumber:
        copy_field(tag, OnnxMessage::node, skeleton.graph);
        break;
      case onnx::GraphProto::kNameFieldNumber:
      case onnx::GraphProto::kInputFieldNumber:
      case onnx::GraphProto::kOutputFieldNumber:
        if (++values > kMostPorts) {
          throw UnsupportedError(where_ + ": more than " + std::to_string(kMostPorts) +
                                 " inputs and outputs");
        }
        copy_field(tag, OnnxMessage::value, skeleton.graph);
        break;
      case onnx::GraphProto::kDocStringFieldNumber:
        copy_field(tag, OnnxMessage::other, skeleton.graph);
        break;
      case onnx::GraphProto::kQuantizationAnnotationFieldNumber:
        left_out_.insert("quantization annotations");
        skip(tag);
        break;
      default:
        skip(tag);
    }
  }
  in_.PopLimit(outer);
}

void ModelScanner::scan_initializer(std::uint32_t initializer_tag) {
  const auto outer = in_.PushLimit(next_length(initializer_tag));
  std::string description;
  RawBytes raw;
  bool has_raw = false;
  while (in_.BytesUntilLimit() > 0) {
    const std::uint32_t tag = next_tag();
    if (Wire::GetTagFieldNumber(tag) != onnx::TensorProto::kRawDataFieldNumber) {
      copy_field(tag, OnnxMessage::tensor, description);
      continue;
    }
    if (has_raw) fail("an initializer holds its data twice");
    has_raw = true;
    const int length = next_length(tag);
    raw = {model_.bytes.substr(static_cast<std::size_t>(in_.CurrentPosition()),
                               static_cast<std::size_t>(length)),
           model_.file};
    if (!in_.Skip(length)) fail("it is cut short");
  }
  in_.PopLimit(outer);
  onnx::TensorProto proto;
  if (!proto.ParseFromString(description)) fail("an initializer is damaged");
  description = {};
  const std::string where = where_ + ": initializer " + in_quotes(proto.name());
  if (proto.data_type() == onnx::TensorProto::STRING && !has_raw) {
    const Shape shape(proto.dims().begin(), proto.dims().end());
    external_.budget().take_constant(where);
    if (element_count(shape, where.c_str()) != proto.string_data_size()) {
      throw ModelError(where + ": has " + std::to_string(proto.string_data_size()) +
                       " texts for the shape " + to_string(shape));
    }
    initializers_.push_back({proto.name(), places_of_texts(shape)});
    texts_[proto.name()].assign(proto.string_data().begin(), proto.string_data().end());
    return;
  }
  initializers_.push_back(
      {proto.name(), to_tensor(proto, has_raw ? &raw : nullptr, external_, where)});
}

std::uint32_t ModelScanner::next_tag() {
  const std::uint32_t tag = in_.ReadTag();
  if (tag == 0) {
    fail("it is cut short or damaged at byte " + std::to_string(in_.CurrentPosition()));
  }
  return tag;
}

int ModelScanner::next_length(std::uint32_t tag) {
  std::uint64_t length = 0;
  if (Wire::GetTagWireType(tag) != Wire::WIRETYPE_LENGTH_DELIMITED || !in_.ReadVarint64(&length)) {
    fail("it is damaged at byte " + std::to_string(in_.CurrentPosition()));
  }
  // The limit of the outermost message is the length of the file, so no more is ever allocated.
  const int room = in_.BytesUntilLimit();
  if (room < 0 || length > static_cast<std::uint64_t>(room)) {
    fail("it is cut short or damaged: at byte " + std::to_string(in_.CurrentPosition()) +
         " a field says that it has " + std::to_string(length) + " bytes, there are " +
         std::to_string(room));
  }
  return static_cast<int>(length);
}

void ModelScanner::skip(std::uint32_t tag) {
  bool done = false;
  std::uint64_t ignored = 0;
  switch (Wire::GetTagWireType(tag)) {
    case Wire::WIRETYPE_VARINT:
      done = in_.ReadVarint64(&ignored);
      break;
    case Wire::WIRETYPE_FIXED64:
      done = in_.Skip(8);
      break;
    case Wire::WIRETYPE_FIXED32:
      done = in_.Skip(4);
      break;
    case Wire::WIRETYPE_LENGTH_DELIMITED:
      done = in_.Skip(next_length(tag));
      break;
    default:
      break;  // groups, which ONNX never had
  }
  if (!done) fail("it is cut short or damaged at byte " + std::to_string(in_.CurrentPosition()));
}

void ModelScanner::charge(OnnxMessage kind, std::string_view content) {
  // Large numbers of an initializer become a tensor at once, and count with it.
  if (kind == OnnxMessage::tensor) return;
  taken_ += parsed_bytes(kind, content);
  if (taken_ <= allowed_) return;
  throw UnsupportedError(where_ + ": the graph without its initializers takes more than " +
                         std::to_string(allowed_ >> 20) + " MiB of memory for a file of " +
                         std::to_string(model_.bytes.size()) + " bytes; " +
                         setting("limits", "memory=SIZE") +
                         " or MORTON_MODEL_MEMORY, in MiB, allows more");
}

void ModelScanner::copy_field(std::uint32_t tag, OnnxMessage kind, std::string& to) {
  append_varint(tag, to);
  std::uint64_t value = 0;
  std::string content;
  bool done = false;
  switch (Wire::GetTagWireType(tag)) {
    case Wire::WIRETYPE_VARINT:
      done = in_.ReadVarint64(&value);
      append_varint(value, to);
      break;
    case Wire::WIRETYPE_FIXED64:
      done = in_.ReadString(&content, 8);
      break;
    case Wire::WIRETYPE_FIXED32:
      done = in_.ReadString(&content, 4);
      break;
    case Wire::WIRETYPE_LENGTH_DELIMITED: {
      const int length = next_length(tag);
      append_varint(static_cast<std::uint64_t>(length), to);
      const std::string_view field = model_.bytes.substr(
          static_cast<std::size_t>(in_.CurrentPosition()), static_cast<std::size_t>(length));
      done = in_.Skip(length);
      if (done) charge(kind, field);
      to += field;
      break;
    }
    default:
      break;
  }
  if (!done) fail("it is cut short or damaged at byte " + std::to_string(in_.CurrentPosition()));
  to += content;
}

}  // namespace morton::formats
