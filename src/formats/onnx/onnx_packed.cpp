// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_packed.hpp"

#include "base/numbers/checked.hpp"
#include "base/numbers/small_types.hpp"

namespace morton::formats {
namespace {

/// The element's bits as a byte in memory holds them: integers with a sign fill it.
std::byte widened(DType type, unsigned bits) {
  const unsigned sign = 1U << static_cast<unsigned>(bits_of(type) - 1);
  const bool is_signed = type == DType::i4 || type == DType::i2;
  return static_cast<std::byte>(is_signed ? (bits ^ sign) - sign : bits);
}

}  // namespace

bool is_packed(DType type) { return bits_of(type) < 8; }

std::int64_t file_bytes(DType type, std::int64_t count) {
  if (!is_packed(type)) return checked_mul(count, size_of(type), "a tensor's bytes");
  return (checked_mul(count, bits_of(type), "a tensor's bits") + 7) / 8;
}

Tensor unpacked(DType type, const Shape& shape, std::string_view bytes) {
  Tensor tensor = Tensor::allocate(type, shape);
  const auto width = static_cast<std::size_t>(bits_of(type));
  const unsigned mask = (1U << width) - 1U;
  std::byte* to = tensor.mutable_data();
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.size()); ++i) {
    const std::size_t byte = i * width / 8;
    unsigned word = static_cast<unsigned char>(bytes[byte]);
    if (byte + 1 < bytes.size()) word |= static_cast<unsigned char>(bytes[byte + 1]) * 256U;
    to[i] = widened(type, word >> i * width % 8 & mask);
  }
  return tensor;
}

std::string packed(const Tensor& tensor) {
  const DType type = tensor.dtype();
  const auto width = static_cast<std::size_t>(bits_of(type));
  std::string bytes(static_cast<std::size_t>(file_bytes(type, tensor.size())), '\0');
  const std::byte* from = tensor.data();
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.size()); ++i) {
    const unsigned bits = std::to_integer<unsigned>(from[i]) & ((1U << width) - 1U);
    const unsigned word = bits << i * width % 8;
    const std::size_t byte = i * width / 8;
    bytes[byte] = static_cast<char>(static_cast<unsigned char>(bytes[byte]) | (word & 0xffU));
    if (word > 0xffU) bytes[byte + 1] = static_cast<char>(word >> 8U);
  }
  return bytes;
}

}  // namespace morton::formats
