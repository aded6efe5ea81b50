// SPDX-License-Identifier: Apache-2.0
//
// Elements of tensors as numbers.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "base/numbers/half.hpp"
#include "base/numbers/small_types.hpp"
#include "morton/tensor.hpp"

namespace morton {
namespace {

template <typename T>
T read(const std::byte* data, std::int64_t index) {
  T value;
  std::memcpy(&value, data + static_cast<std::size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void write(std::byte* data, std::int64_t index, T value) {
  std::memcpy(data + static_cast<std::size_t>(index) * sizeof(T), &value, sizeof(T));
}

template <typename T>
T saturate(double value) {
  if (std::isnan(value)) return 0;
  const double rounded = std::nearbyint(value);
  if (rounded <= static_cast<double>(std::numeric_limits<T>::min())) {
    return std::numeric_limits<T>::min();
  }
  if (rounded >= static_cast<double>(std::numeric_limits<T>::max())) {
    return std::numeric_limits<T>::max();
  }
  return static_cast<T>(rounded);
}

}  // namespace

double Tensor::at(std::int64_t index) const {
  if (index < 0 || index >= size()) {
    throw UsageError("tensor: element " + std::to_string(index) + " of " + std::to_string(size()));
  }
  switch (dtype_) {
    case DType::f32:
    case DType::tf32:
      return static_cast<double>(read<float>(data_, index));
    case DType::f16:
      return static_cast<double>(from_half(read<std::uint16_t>(data_, index)));
    case DType::bf16:
      return static_cast<double>(from_bfloat16(read<std::uint16_t>(data_, index)));
    case DType::f64:
      return read<double>(data_, index);
    case DType::i8:
      return read<std::int8_t>(data_, index);
    case DType::u8:
      return read<std::uint8_t>(data_, index);
    case DType::i32:
      return read<std::int32_t>(data_, index);
    case DType::i64:
      return static_cast<double>(read<std::int64_t>(data_, index));
    case DType::i16:
      return read<std::int16_t>(data_, index);
    case DType::u16:
      return read<std::uint16_t>(data_, index);
    case DType::u32:
      return read<std::uint32_t>(data_, index);
    case DType::u64:
      return static_cast<double>(read<std::uint64_t>(data_, index));
    case DType::boolean:
      return read<std::uint8_t>(data_, index) != 0 ? 1.0 : 0.0;
    case DType::i4:
    case DType::i2:
      return read<std::int8_t>(data_, index);
    case DType::u4:
    case DType::u2:
      return read<std::uint8_t>(data_, index);
    default:
      return static_cast<double>(from_stored_real(dtype_, read<std::uint8_t>(data_, index)));
  }
}

void Tensor::set(std::int64_t index, double value) {
  if (index < 0 || index >= size()) {
    throw UsageError("tensor: element " + std::to_string(index) + " of " + std::to_string(size()));
  }
  std::byte* data = mutable_data();
  switch (dtype_) {
    case DType::f32:
      return write(data, index, static_cast<float>(value));
    case DType::f16:
      return write(data, index, to_half(static_cast<float>(value)));
    case DType::tf32:
      return write(data, index, to_tf32(static_cast<float>(value)));
    case DType::bf16:
      return write(data, index, to_bfloat16(static_cast<float>(value)));
    case DType::f64:
      return write(data, index, value);
    case DType::i8:
      return write(data, index, saturate<std::int8_t>(value));
    case DType::u8:
      return write(data, index, saturate<std::uint8_t>(value));
    case DType::i32:
      return write(data, index, saturate<std::int32_t>(value));
    case DType::i64:
      return write(data, index, saturate<std::int64_t>(value));
    case DType::i16:
      return write(data, index, saturate<std::int16_t>(value));
    case DType::u16:
      return write(data, index, saturate<std::uint16_t>(value));
    case DType::u32:
      return write(data, index, saturate<std::uint32_t>(value));
    case DType::u64:
      return write(data, index, saturate<std::uint64_t>(value));
    case DType::boolean:
      return write(data, index, static_cast<std::uint8_t>(value != 0.0 ? 1 : 0));
    case DType::i4:
      return write(data, index, std::clamp<std::int8_t>(saturate<std::int8_t>(value), -8, 7));
    case DType::u4:
      return write(data, index, std::min<std::uint8_t>(saturate<std::uint8_t>(value), 15));
    case DType::i2:
      return write(data, index, std::clamp<std::int8_t>(saturate<std::int8_t>(value), -2, 1));
    case DType::u2:
      return write(data, index, std::min<std::uint8_t>(saturate<std::uint8_t>(value), 3));
    default:
      return write(data, index, to_stored_real(dtype_, static_cast<float>(value)));
  }
}

Tensor Tensor::converted(DType type) const {
  Tensor result = allocate(type, shape_);
  // Weights of networks are many.
  if (dtype_ == DType::f32 && (type == DType::f16 || type == DType::bf16)) {
    const auto round = type == DType::f16 ? to_half : to_bfloat16;
    const std::span<const float> values = as<float>();
    std::byte* to = result.mutable_data();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint16_t bits = round(values[i]);
      std::memcpy(to + 2 * i, &bits, sizeof bits);
    }
    return result;
  }
  for (std::int64_t i = 0; i < size(); ++i) result.set(i, at(i));
  return result;
}

}  // namespace morton
