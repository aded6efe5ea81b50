// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/rooms.hpp"

namespace morton::training {

/// Writes a message in the wire format of Protocol Buffers, field by field. What few messages need
/// is written here by hand, so that TensorFlow's definitions need not be generated. Source:
/// Protocol Buffers' documentation, "Encoding".
class WireMessage {
 public:
  /// int32, int64, bool, enums.
  void integer(int field, std::int64_t value) {
    key(field, 0);
    varint(static_cast<std::uint64_t>(value));
  }
  void real64(int field, double value) {
    key(field, 1);
    fixed(std::bit_cast<std::uint64_t>(value), 8);
  }
  void real32(int field, float value) {
    key(field, 5);
    fixed(std::bit_cast<std::uint32_t>(value), 4);
  }
  /// string, bytes.
  void text(int field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    bytes_ += value;
  }
  void message(int field, const WireMessage& value) { text(field, value.bytes_); }
  /// repeated double, packed.
  void reals64(int field, std::span<const double> values) {
    key(field, 2);
    varint(values.size() * sizeof(double));
    for (const double value : values) fixed(std::bit_cast<std::uint64_t>(value), 8);
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void key(int field, int type) {
    varint(static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(type));
  }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  void fixed(std::uint64_t value, int count) {
    for (int i = 0; i < count; ++i) bytes_ += static_cast<char>(value >> (8 * i));
  }

  std::string bytes_;
};

}  // namespace morton::training
