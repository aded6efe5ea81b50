// SPDX-License-Identifier: Apache-2.0
#include "morton/tensor.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <new>

#include "base/numbers/checked.hpp"
#include "base/numbers/half.hpp"
#include "base/numbers/small_types.hpp"
#include "base/shape.hpp"

namespace morton {
namespace {

std::size_t bytes_for(DType type, const Shape& shape) {
  const std::int64_t bytes =
      checked_mul(element_count(shape, "tensor"), size_of(type), "tensor bytes");
  // A process of 32 bits addresses less than a shape may ask for.
  if (bytes > std::numeric_limits<std::ptrdiff_t>::max()) {
    throw UnsupportedError("tensor: " + std::string(name_of(type)) + " " + to_string(shape) +
                           " needs " + std::to_string(bytes) + " bytes, and a process on this " +
                           "system addresses fewer");
  }
  return static_cast<std::size_t>(bytes);
}

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

/// An aligned copy of bytes that are not, made when somebody needs it.
struct Tensor::MappedBytes {
  std::once_flag once;
  Tensor copy;
};

Tensor::Tensor() = default;

Tensor Tensor::allocate(DType type, const Shape& shape) {
  Tensor tensor;
  tensor.dtype_ = type;
  tensor.shape_ = shape;
  tensor.bytes_ = bytes_for(type, shape);
  // Vectors of 16 doubles, OpenCL's largest, so that a processor's kernels can read and write the
  // tensor where it lies. A large piece of calloc is zero as the system gives it, and no page of it
  // is touched before its use.
  constexpr std::size_t kAlignment = 128;
  void* const whole = std::calloc(tensor.bytes_ + kAlignment, 1);
  if (whole == nullptr) throw std::bad_alloc();
  void* aligned = whole;
  std::size_t room = tensor.bytes_ + kAlignment;
  tensor.data_ = static_cast<std::byte*>(
      std::align(kAlignment, std::max<std::size_t>(tensor.bytes_, 1), aligned, room));
  tensor.owner_ = std::shared_ptr<const void>(
      whole, [](const void* memory) { std::free(const_cast<void*>(memory)); });
  return tensor;
}

Tensor Tensor::borrow(DType type, const Shape& shape, void* data, std::size_t bytes) {
  return adopt(type, shape, data, bytes, nullptr);
}

Tensor Tensor::adopt(DType type, const Shape& shape, void* data, std::size_t bytes,
                     std::shared_ptr<const void> owner) {
  Tensor tensor = share(type, shape, data, bytes, std::move(owner));
  tensor.access_ = Access::writable;
  return tensor;
}

Tensor Tensor::share(DType type, const Shape& shape, const void* data, std::size_t bytes,
                     std::shared_ptr<const void> owner) {
  const std::size_t needed = bytes_for(type, shape);
  if (bytes != needed) {
    throw UsageError("tensor: " + std::string(name_of(type)) + " " + to_string(shape) + " needs " +
                     std::to_string(needed) + " bytes, got " + std::to_string(bytes));
  }
  if (data == nullptr && needed > 0) throw UsageError("tensor: the data pointer is null");
  Tensor tensor;
  tensor.dtype_ = type;
  tensor.shape_ = shape;
  tensor.bytes_ = needed;
  tensor.data_ = static_cast<std::byte*>(const_cast<void*>(data));
  tensor.owner_ = std::move(owner);
  tensor.access_ = Access::read_only;
  return tensor;
}

Tensor Tensor::of_mapped_file(DType type, const Shape& shape, const void* data, std::size_t bytes,
                              std::shared_ptr<const void> mapping) {
  Tensor tensor = share(type, shape, data, bytes, std::move(mapping));
  tensor.mapped_ = std::make_shared<MappedBytes>();
  return tensor;
}

const std::byte* Tensor::aligned_data() const {
  const auto address = reinterpret_cast<std::uintptr_t>(data_);
  if (address % static_cast<std::uintptr_t>(size_of(dtype_)) == 0) return data_;
  std::call_once(mapped_->once, [&] { mapped_->copy = clone(); });
  return mapped_->copy.data_;
}

void Tensor::drop_pages() const {
  if (mapped_ == nullptr || bytes_ == 0) return;
  static const auto kPageBytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(data_) / kPageBytes * kPageBytes;
  const auto end = reinterpret_cast<std::uintptr_t>(data_) + bytes_;
  // Neighbours in the first and the last page are read again from the file as well.
  static_cast<void>(::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED));
}

Tensor Tensor::from(const Shape& shape, std::span<const float> values) {
  Tensor tensor = allocate(DType::f32, shape);
  if (values.size_bytes() != tensor.bytes_) {
    throw UsageError("tensor: shape " + to_string(shape) + " got " + std::to_string(values.size()) +
                     " values");
  }
  std::copy(values.begin(), values.end(), tensor.as_mutable<float>().begin());
  return tensor;
}

Tensor Tensor::from(const Shape& shape, std::span<const std::int64_t> values) {
  Tensor tensor = allocate(DType::i64, shape);
  if (values.size_bytes() != tensor.bytes_) {
    throw UsageError("tensor: shape " + to_string(shape) + " got " + std::to_string(values.size()) +
                     " values");
  }
  std::copy(values.begin(), values.end(), tensor.as_mutable<std::int64_t>().begin());
  return tensor;
}

std::int64_t Tensor::size() const { return static_cast<std::int64_t>(bytes_) / size_of(dtype_); }

std::byte* Tensor::mutable_data() {
  if (access_ == Access::read_only) throw UsageError("tensor: the bytes are shared read-only");
  return data_;
}

void Tensor::require_type(DType type) const {
  if (type != dtype_) {
    throw UsageError("tensor: holds " + std::string(name_of(dtype_)) + ", asked for " +
                     std::string(name_of(type)));
  }
}

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

Tensor Tensor::reshaped(const Shape& shape) const {
  if (element_count(shape, "reshape") != size()) {
    throw ModelError("reshape: " + to_string(shape_) + " cannot become " + to_string(shape));
  }
  Tensor result = *this;
  result.shape_ = shape;
  return result;
}

Tensor Tensor::clone() const {
  Tensor copy = allocate(dtype_, shape_);
  if (bytes_ > 0) std::memcpy(copy.data_, data_, bytes_);
  return copy;
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
