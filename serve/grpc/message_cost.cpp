// SPDX-License-Identifier: Apache-2.0
#include "grpc/message_cost.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <cstdint>

namespace morton::serve {
namespace {

namespace io = google::protobuf::io;
using Wire = google::protobuf::internal::WireFormatLite;

/// Of any message inside another one, and of any text or bytes beside their length.
constexpr std::size_t kMessageBytes = 256, kTextBytes = 64;

/// The messages of a request that hold others, or lists of numbers.
enum class Level : std::uint8_t { request, input, output, contents };

/// What a field of a level is in memory.
struct Field {
  enum class Kind : std::uint8_t { text, message, varints } kind = Kind::text;
  Level level = Level::request;  ///< of a message that is looked into
  bool is_looked_into = false;
  std::size_t width = 0;  ///< bytes of a number of varints
};

Field field_of(Level level, int number) {
  using Kind = Field::Kind;
  const Field map_entry{Kind::message};
  switch (level) {
    case Level::request:
      if (number == 4) return map_entry;
      if (number == 5) return {Kind::message, Level::input, true};
      if (number == 6) return {Kind::message, Level::output, true};
      break;
    case Level::input:
      if (number == 3) return {Kind::varints, Level::request, false, 8};
      if (number == 4) return map_entry;
      if (number == 5) return {Kind::message, Level::contents, true};
      break;
    case Level::output:
      if (number == 2) return map_entry;
      break;
    case Level::contents:
      if (number == 2 || number == 4) return {Kind::varints, Level::request, false, 4};
      if (number == 3 || number == 5) return {Kind::varints, Level::request, false, 8};
      break;
  }
  return {};
}

/// The varints in the next bytes: each ends with a byte below 128.
std::optional<std::size_t> varints_in(io::CodedInputStream& in, int bytes) {
  std::size_t count = 0;
  while (bytes > 0) {
    const void* data = nullptr;
    int size = 0;
    if (!in.GetDirectBufferPointer(&data, &size) || size == 0) return std::nullopt;
    size = std::min(size, bytes);
    const auto* const first = static_cast<const unsigned char*>(data);
    count += static_cast<std::size_t>(
        std::count_if(first, first + size, [](unsigned char one) { return one < 0x80; }));
    if (!in.Skip(size)) return std::nullopt;
    bytes -= size;
  }
  return count;
}

std::optional<std::size_t> memory_in(io::CodedInputStream& in, Level level) {
  std::size_t sum = kMessageBytes;
  while (const std::uint32_t tag = in.ReadTag()) {
    if (Wire::GetTagWireType(tag) != Wire::WIRETYPE_LENGTH_DELIMITED) {
      // The protocol has no groups, and what lies in one would be kept.
      if (Wire::GetTagWireType(tag) == Wire::WIRETYPE_START_GROUP) return std::nullopt;
      if (!Wire::SkipField(&in, tag)) return std::nullopt;
      sum += kTextBytes;  // a number, or one that the protocol does not know
      continue;
    }
    int length = 0;
    if (!in.ReadVarintSizeAsInt(&length)) return std::nullopt;
    const Field field = field_of(level, Wire::GetTagFieldNumber(tag));
    if (field.kind == Field::Kind::varints) {
      const auto count = varints_in(in, length);
      if (!count) return std::nullopt;
      sum += *count * field.width;
    } else if (field.is_looked_into) {
      const auto limit = in.PushLimit(length);
      const auto inner = memory_in(in, field.level);
      if (!inner || in.BytesUntilLimit() != 0) return std::nullopt;
      in.PopLimit(limit);
      sum += *inner;
    } else {
      if (!in.Skip(length)) return std::nullopt;
      sum += static_cast<std::size_t>(length) +
             (field.kind == Field::Kind::message ? kMessageBytes : kTextBytes);
    }
  }
  return in.ConsumedEntireMessage() ? std::optional(sum) : std::nullopt;
}

}  // namespace

std::optional<std::size_t> memory_of(grpc::ByteBuffer& message) {
  grpc::ProtoBufferReader reader(&message);
  if (!reader.status().ok()) return std::nullopt;
  io::CodedInputStream in(&reader);
  return memory_in(in, Level::request);
}

}  // namespace morton::serve
