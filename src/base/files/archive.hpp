// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "base/files/archive_kinds.hpp"
#include "morton/tensor.hpp"

/// Plain data as bytes and back, for files that only the Morton that wrote them reads.
///
/// A struct takes part by a function beside the others of its kind,
///
///     template <typename Archive, Archived<Point> T>
///     void visit(Archive& archive, T& point) {
///       auto& [x, y] = point;
///       archive(x, y);
///     }
///
/// which the writer, the reader and the schema share, so that they cannot disagree. The binding
/// names every member: a new one does not compile until somebody has decided what becomes of it.
namespace morton {

/// T is U or const U.
template <typename T, typename U>
concept Archived = std::same_as<std::remove_const_t<T>, U>;

/// The last enumerator of an enumeration that is archived, by name; readers refuse what lies
/// beyond.
template <typename Enum>
struct LastOf;

/// Appends values to a text of bytes.
class ArchiveWriter {
 public:
  template <typename... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  void put_raw(const void* data, std::size_t size) {
    bytes_.append(static_cast<const char*>(data), size);
  }
  void put(const std::string& text) {
    put(static_cast<std::uint64_t>(text.size()));
    put_raw(text.data(), text.size());
  }
  void put(DType type) { put(std::string(name_of(type))); }
  void put(const Tensor& tensor) {
    put(tensor.dtype());
    put(tensor.shape());
    put(static_cast<std::uint64_t>(tensor.bytes()));
    put_raw(tensor.stored(), tensor.bytes());
  }
  template <typename T>
  void put(const T& value) {
    using namespace archive_detail;
    if constexpr (std::is_arithmetic_v<T>) {
      put_raw(&value, sizeof value);
    } else if constexpr (std::is_enum_v<T>) {
      if (value > LastOf<T>::value) throw InternalError("archive: an unknown enumerator");
      put(static_cast<std::uint8_t>(value));
    } else if constexpr (IsVector<T>::value || IsMap<T>::value) {
      put(static_cast<std::uint64_t>(value.size()));
      for (const auto& element : value) put(element);
    } else if constexpr (IsArray<T>::value) {
      for (const auto& element : value) put(element);
    } else if constexpr (IsPair<T>::value) {
      put(value.first);
      put(value.second);
    } else if constexpr (IsId<T>::value) {
      put(value.index());
    } else if constexpr (IsVariant<T>::value) {
      put(static_cast<std::uint8_t>(value.index()));
      std::visit([&](const auto& alternative) { put(alternative); }, value);
    } else {
      visit(*this, value);
    }
  }

  std::string bytes_;
};

/// Takes values from the front of bytes that nobody vouches for: throws ModelError, naming `where`
/// and the byte, for whatever the writer cannot have written. Allocates no more than the bytes
/// that are there ask for.
class ArchiveReader {
 public:
  ArchiveReader(std::string_view bytes, std::string where)
      : bytes_(bytes), where_(std::move(where)) {}

  template <typename... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  /// Throws ModelError where bytes are left.
  void require_end() const {
    if (at_ != bytes_.size()) fail(std::to_string(bytes_.size() - at_) + " bytes are left over");
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw ModelError(where_ + ": is damaged: at byte " + std::to_string(at_) + ": " + why);
  }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size() - at_) fail("expected " + std::to_string(size) + " bytes more");
    const std::string_view taken = bytes_.substr(at_, size);
    at_ += size;
    return taken;
  }
  void get(std::string& text) {
    std::uint64_t size = 0;
    get(size);
    text = take(size);
  }
  void get(DType& type) {
    std::string name;
    get(name);
    try {
      type = parse_dtype(name);
    } catch (const UsageError&) {
      fail("there is no element type of that name");
    }
  }
  void get(Tensor& tensor) {
    DType type{};
    Shape shape;
    std::uint64_t size = 0;
    (*this)(type, shape, size);
    const std::string_view content = take(size);
    if (static_cast<std::uint64_t>(size_of(type)) * product_up_to(shape, size) != size) {
      fail("a tensor's bytes do not fit its shape");
    }
    tensor = Tensor::allocate(type, shape);
    if (size > 0) std::memcpy(tensor.mutable_data(), content.data(), size);
  }
  /// The product of the extents; `limit` + 1 where it is more or an extent is negative.
  static std::uint64_t product_up_to(const Shape& shape, std::uint64_t limit) {
    std::uint64_t product = 1;
    for (const std::int64_t extent : shape) {
      if (extent == 0) return 0;
    }
    for (const std::int64_t extent : shape) {
      const auto factor = static_cast<std::uint64_t>(extent);
      if (extent < 0 || factor > (limit + 1) / product) return limit + 1;
      product *= factor;
    }
    return product;
  }
  template <typename T>
  void get(T& value) {
    using namespace archive_detail;
    if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t byte = 0;
      get(byte);
      if (byte > 1) fail("expected 0 or 1");
      value = byte == 1;
    } else if constexpr (std::is_arithmetic_v<T>) {
      std::memcpy(&value, take(sizeof value).data(), sizeof value);
    } else if constexpr (std::is_enum_v<T>) {
      std::uint8_t byte = 0;
      get(byte);
      if (byte > static_cast<std::uint8_t>(LastOf<T>::value)) fail("an unknown enumerator");
      value = static_cast<T>(byte);
    } else if constexpr (IsVector<T>::value) {
      value.clear();
      for_each_of_count([&] { get(value.emplace_back()); });
    } else if constexpr (IsMap<T>::value) {
      value.clear();
      for_each_of_count([&] {
        std::pair<typename T::key_type, typename T::mapped_type> member;
        get(member);
        if (!value.insert(std::move(member)).second) fail("a name is there twice");
      });
    } else if constexpr (IsArray<T>::value) {
      for (auto& element : value) get(element);
    } else if constexpr (IsPair<T>::value) {
      get(value.first);
      get(value.second);
    } else if constexpr (IsId<T>::value) {
      std::int32_t index = -1;
      get(index);
      if (index < -1) fail("a number below -1");
      value = T(index);
    } else if constexpr (IsVariant<T>::value) {
      std::uint8_t alternative = 0;
      get(alternative);
      if (alternative >= std::variant_size_v<T>) fail("an unknown alternative");
      get_alternative(value, alternative, std::make_index_sequence<std::variant_size_v<T>>());
    } else {
      visit(*this, value);
    }
  }
  /// Reads the alternative of that number into the variant.
  template <typename T, std::size_t... I>
  void get_alternative(T& value, std::size_t alternative, std::index_sequence<I...>) {
    (void)((I == alternative && (get(value.template emplace<I>()), true)) || ...);
  }
  template <typename Call>
  void for_each_of_count(const Call& call) {
    std::uint64_t count = 0;
    get(count);
    // Each element takes a byte at least.
    if (count > bytes_.size() - at_) fail("expected " + std::to_string(count) + " elements");
    for (std::uint64_t i = 0; i < count; ++i) call();
  }

  std::string_view bytes_;
  std::string where_;
  std::size_t at_ = 0;
};

/// Describes what is archived, in a text whose digest tells files of other versions apart.
class ArchiveSchema {
 public:
  template <typename... T>
  void operator()(const T&... values) {
    (add(values), ...);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void add(const std::string&) { text_ += 's'; }
  void add(DType) { text_ += 'd'; }
  void add(const Tensor&) { text_ += 't'; }
  template <typename T>
  void add(const T& value) {
    using namespace archive_detail;
    if constexpr (std::is_arithmetic_v<T>) {
      const bool is_real = std::is_floating_point_v<T>;
      text_ += (is_real ? 'f' : 'i') + std::to_string(sizeof value);
    } else if constexpr (std::is_enum_v<T>) {
      text_ += 'e' + std::to_string(static_cast<int>(LastOf<T>::value));
    } else if constexpr (IsVector<T>::value) {
      text_ += '[';
      add(typename T::value_type{});
    } else if constexpr (IsMap<T>::value) {
      text_ += '<';
      add(typename T::key_type{});
      add(typename T::mapped_type{});
    } else if constexpr (IsArray<T>::value) {
      text_ += std::to_string(value.size()) + '*';
      add(typename T::value_type{});
    } else if constexpr (IsPair<T>::value) {
      add(value.first);
      add(value.second);
    } else if constexpr (IsId<T>::value) {
      text_ += '#';
    } else if constexpr (IsVariant<T>::value) {
      text_ += '(';
      add_alternatives(value);
      text_ += ')';
    } else {
      text_ += '{';
      visit(*this, value);
      text_ += '}';
    }
  }

  template <typename... A>
  void add_alternatives(const std::variant<A...>&) {
    ((text_ += '|', add(A{})), ...);
  }

  std::string text_ = std::endian::native == std::endian::little ? "little " : "big ";
};

}  // namespace morton
