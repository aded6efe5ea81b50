// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "morton/dtype.hpp"
#include "morton/error.hpp"
#include "morton/export.hpp"

namespace morton {

/// Extents of a tensor, outermost dimension first.
using Shape = std::vector<std::int64_t>;

/// A dense row-major array in host memory: element type, shape, bytes.
///
/// Copies share the bytes (as `std::shared_ptr` does); `clone` makes a copy of its own. The bytes
/// are owned (`allocate`), shared with an owner (`share`), or borrowed from the caller (`borrow`),
/// who then keeps them alive for as long as any copy of the tensor is in use.
class MORTON_API Tensor {
 public:
  /// An empty tensor: f32, shape {0}, no bytes.
  Tensor();
  /// Owned, zero-filled. Throws ModelError for a negative extent or a size out of range.
  [[nodiscard]] static Tensor allocate(DType type, const Shape& shape);
  /// Borrowed. `data` points to exactly `bytes` bytes; throws UsageError when the shape needs
  /// another number of bytes.
  [[nodiscard]] static Tensor borrow(DType type, const Shape& shape, void* data, std::size_t bytes);
  /// As `borrow`, with an owner that is kept alive.
  [[nodiscard]] static Tensor adopt(DType type, const Shape& shape, void* data, std::size_t bytes,
                                    std::shared_ptr<const void> owner);
  /// As `adopt`, for bytes that only may be read (a mapped file, a message).
  [[nodiscard]] static Tensor share(DType type, const Shape& shape, const void* data,
                                    std::size_t bytes, std::shared_ptr<const void> owner);
  /// As `share`, for bytes of a file that is mapped read-only, at any alignment.
  [[nodiscard]] static Tensor of_mapped_file(DType type, const Shape& shape, const void* data,
                                             std::size_t bytes,
                                             std::shared_ptr<const void> mapping);
  /// Owned, filled from `values`; throws UsageError where the shape has another number of elements.
  [[nodiscard]] static Tensor from(const Shape& shape, std::span<const float> values);
  [[nodiscard]] static Tensor from(const Shape& shape, std::span<const std::int64_t> values);

  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// Number of elements.
  [[nodiscard]] std::int64_t size() const;
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Aligned for the element type. Of a mapped file that may be a copy, made at the first call.
  [[nodiscard]] const std::byte* data() const {
    return mapped_ == nullptr ? data_ : aligned_data();
  }
  /// Where the bytes lie, at any alignment: to copy and to hash them.
  [[nodiscard]] const std::byte* stored() const { return data_; }
  /// Throws UsageError for a tensor made by `share`, whose bytes are read-only.
  [[nodiscard]] std::byte* mutable_data();

  /// The elements as T; throws UsageError when T is not the element type.
  template <typename T>
  [[nodiscard]] std::span<const T> as() const {
    require_type(type_of<T>());
    return {reinterpret_cast<const T*>(data()), static_cast<std::size_t>(size())};
  }
  template <typename T>
  [[nodiscard]] std::span<T> as_mutable() {
    require_type(type_of<T>());
    return {reinterpret_cast<T*>(mutable_data()), static_cast<std::size_t>(size())};
  }

  /// Element `index` (row-major) converted to double, for any element type. A 64-bit integer beyond
  /// 2^53 is rounded. Throws UsageError beyond the last element.
  [[nodiscard]] double at(std::int64_t index) const;
  /// Sets element `index`, rounding to the element type (f16: to nearest even; integers:
  /// saturating). Throws UsageError beyond the last element.
  void set(std::int64_t index, double value);

  /// Of a mapped file: gives its memory back until the bytes are read again. Else does nothing.
  void drop_pages() const;

  /// The same bytes under another shape of equal size; throws ModelError otherwise.
  [[nodiscard]] Tensor reshaped(const Shape& shape) const;
  /// Some rows of the outermost dimension, of whole bytes each: the same bytes. Throws UsageError
  /// where there are no such rows.
  [[nodiscard]] Tensor rows(std::int64_t first, std::int64_t count) const;
  /// An owned copy.
  [[nodiscard]] Tensor clone() const;
  /// An owned copy converted element by element (see `set`).
  [[nodiscard]] Tensor converted(DType type) const;

 private:
  template <typename T>
  static constexpr DType type_of();
  void require_type(DType type) const;
  [[nodiscard]] const std::byte* aligned_data() const;

  struct MappedBytes;

  DType dtype_ = DType::f32;
  Shape shape_{0};
  std::size_t bytes_ = 0;
  std::byte* data_ = nullptr;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<MappedBytes> mapped_;  ///< of a mapped file, else null
  enum class Access : std::uint8_t { writable, read_only } access_ = Access::writable;
};

template <>
constexpr DType Tensor::type_of<float>() {
  return DType::f32;
}
template <>
constexpr DType Tensor::type_of<double>() {
  return DType::f64;
}
template <>
constexpr DType Tensor::type_of<std::int8_t>() {
  return DType::i8;
}
template <>
constexpr DType Tensor::type_of<std::uint8_t>() {
  return DType::u8;
}
template <>
constexpr DType Tensor::type_of<std::int32_t>() {
  return DType::i32;
}
template <>
constexpr DType Tensor::type_of<std::int64_t>() {
  return DType::i64;
}
template <>
constexpr DType Tensor::type_of<std::int16_t>() {
  return DType::i16;
}
template <>
constexpr DType Tensor::type_of<std::uint16_t>() {
  return DType::u16;
}
template <>
constexpr DType Tensor::type_of<std::uint32_t>() {
  return DType::u32;
}
template <>
constexpr DType Tensor::type_of<std::uint64_t>() {
  return DType::u64;
}

/// A tensor and its name, as files and sessions pass them.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

}  // namespace morton
