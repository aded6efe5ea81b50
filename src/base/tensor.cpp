// SPDX-License-Identifier: Apache-2.0
#include "morton/tensor.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <new>

#include "base/numbers/checked.hpp"
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

Tensor Tensor::rows(std::int64_t first, std::int64_t count) const {
  if (shape_.empty() || first < 0 || count < 0 || first > shape_[0] - count) {
    throw UsageError("tensor: rows " + std::to_string(first) + " to " +
                     std::to_string(first + count) + " of " + to_string(shape_));
  }
  Tensor part = *this;
  part.shape_[0] = count;
  part.bytes_ = bytes_for(dtype_, part.shape_);
  const std::size_t row = count == 0 ? 0 : part.bytes_ / static_cast<std::size_t>(count);
  part.data_ += static_cast<std::size_t>(first) * row;
  if (mapped_ != nullptr) part.mapped_ = std::make_shared<MappedBytes>();
  return part;
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

}  // namespace morton
