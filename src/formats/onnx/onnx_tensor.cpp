// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_tensor.hpp"

#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <set>

#include "base/numbers/checked.hpp"
#include "base/numbers/onnx_numbers.hpp"
#include "base/shape.hpp"
#include "formats/onnx/onnx_packed.hpp"
#include "morton/error.hpp"

namespace morton::formats {
namespace {

static_assert(std::endian::native == std::endian::little, "ONNX's raw data are little-endian");

/// A non-negative decimal number, as external_data writes offsets and lengths.
std::int64_t parse_size(const std::string& text, const char* key, const std::string& where) {
  std::int64_t value = -1;
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc{} || stop != end || value < 0) {
    throw ModelError(where + ": external data: " + key + " is " + in_quotes(text) +
                     ", expected a number of bytes");
  }
  return value;
}

/// Fills `tensor`, whose elements are of type Stored, from a repeated field of a wider type.
template <typename Stored, typename Values>
void copy_values(const Values& values, Tensor& tensor, const std::string& where) {
  std::byte* to = tensor.mutable_data();
  for (int i = 0; i < values.size(); ++i) {
    using Given = std::decay_t<decltype(values.Get(i))>;
    const Given given = values.Get(i);
    const auto stored = static_cast<Stored>(given);
    if constexpr (std::is_integral_v<Stored>) {
      if (static_cast<Given>(stored) != given) {
        throw ModelError(where + ": element " + std::to_string(i) + " is " + std::to_string(given) +
                         ", which its element type cannot hold");
      }
    }
    std::memcpy(to + static_cast<std::size_t>(i) * sizeof(Stored), &stored, sizeof(Stored));
  }
}

template <typename Stored, typename Values>
Tensor from_values(DType type, const Shape& shape, const Values& values, const std::string& where) {
  const std::int64_t expected = element_count(shape, where.c_str());
  if (values.size() != expected) {
    throw ModelError(where + ": shape " + to_string(shape) + " needs " + std::to_string(expected) +
                     " values, the file holds " + std::to_string(values.size()));
  }
  Tensor tensor = Tensor::allocate(type, shape);
  copy_values<Stored>(values, tensor, where);
  return tensor;
}

/// Packed elements, a byte of them in each value.
Tensor from_packed_values(const onnx::TensorProto& proto, DType type, const Shape& shape,
                          const std::string& where) {
  const std::int64_t expected = file_bytes(type, element_count(shape, where.c_str()));
  const Tensor bytes = from_values<std::uint8_t>(DType::u8, {expected}, proto.int32_data(), where);
  return unpacked(
      type, shape,
      {reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(expected)});
}

/// Elements of 6 bits have a value each.
Tensor from_single_values(const onnx::TensorProto& proto, DType type, const Shape& shape,
                          const std::string& where) {
  Tensor tensor = from_values<std::uint8_t>(type, shape, proto.int32_data(), where);
  for (std::size_t i = 0; i < tensor.bytes(); ++i) tensor.mutable_data()[i] &= std::byte{0x3f};
  return tensor;
}

/// The tensor from the field for its element type.
Tensor from_typed_fields(const onnx::TensorProto& proto, DType type, const Shape& shape,
                         const std::string& where) {
  switch (type) {
    case DType::f32:
      return from_values<float>(type, shape, proto.float_data(), where);
    case DType::f64:
      return from_values<double>(type, shape, proto.double_data(), where);
    case DType::i64:
      return from_values<std::int64_t>(type, shape, proto.int64_data(), where);
    case DType::i32:
      return from_values<std::int32_t>(type, shape, proto.int32_data(), where);
    case DType::u64:
      return from_values<std::uint64_t>(type, shape, proto.uint64_data(), where);
    case DType::u32:
      return from_values<std::uint32_t>(type, shape, proto.uint64_data(), where);
    case DType::i16:
      return from_values<std::int16_t>(type, shape, proto.int32_data(), where);
    case DType::u16:
      return from_values<std::uint16_t>(type, shape, proto.int32_data(), where);
    case DType::i8:
      return from_values<std::int8_t>(type, shape, proto.int32_data(), where);
    case DType::boolean:
    case DType::u8:
      return from_values<std::uint8_t>(type, shape, proto.int32_data(), where);
    case DType::f16:
    case DType::bf16:
      return from_values<std::uint16_t>(type, shape, proto.int32_data(), where);
    case DType::f8e4m3fn:
    case DType::f8e4m3fnuz:
    case DType::f8e5m2:
    case DType::f8e5m2fnuz:
    case DType::f8e8m0:
      return from_values<std::uint8_t>(type, shape, proto.int32_data(), where);
    case DType::f6e2m3:
    case DType::f6e3m2:
      return from_single_values(proto, type, shape, where);
    case DType::f4e2m1:
    case DType::i4:
    case DType::u4:
    case DType::i2:
    case DType::u2:
      return from_packed_values(proto, type, shape, where);
    case DType::tf32:
      break;  // no type of ONNX
  }
  throw InternalError(where + ": element type out of range");
}

/// Smaller tensors are copied: they cost little, and a page of their file may be dropped with them.
constexpr std::size_t kLeastMappedBytes = std::size_t{64} << 10;

/// The tensor over `raw`, which holds as many bytes as it needs: shared where it may be.
Tensor from_raw(const RawBytes& raw, DType type, const Shape& shape) {
  const bool is_large = raw.bytes.size() >= kLeastMappedBytes;
  if (raw.file != nullptr && is_large && !is_packed(type)) {
    return Tensor::of_mapped_file(type, shape, raw.bytes.data(), raw.bytes.size(), raw.file);
  }
  if (is_packed(type)) return unpacked(type, shape, raw.bytes);
  Tensor tensor = Tensor::allocate(type, shape);
  if (!raw.bytes.empty()) {
    std::memcpy(tensor.mutable_data(), raw.bytes.data(), raw.bytes.size());
  }
  return tensor;
}

/// Fails unless a tensor that needs `expected` bytes got as many.
void check_size(const Shape& shape, std::int64_t expected, std::size_t got,
                const std::string& where) {
  if (static_cast<std::uint64_t>(expected) == got) return;
  throw ModelError(where + ": shape " + to_string(shape) + " needs " + std::to_string(expected) +
                   " bytes, the file holds " + std::to_string(got));
}

/// A tensor with raw data may have none in the fields of its type.
bool holds_typed_fields(const onnx::TensorProto& proto) {
  return proto.float_data_size() + proto.int32_data_size() + proto.int64_data_size() +
             proto.double_data_size() + proto.uint64_data_size() + proto.string_data_size() >
         0;
}

}  // namespace

namespace {

/// What external_data says, each key once.
struct Place {
  std::string location;
  std::int64_t offset = 0;
  std::optional<std::int64_t> length;
};

Place place_of(const onnx::TensorProto& proto, const std::string& where) {
  Place place;
  std::set<std::string> keys;
  for (const onnx::StringStringEntryProto& entry : proto.external_data()) {
    if (!keys.insert(entry.key()).second) {
      throw ModelError(where + ": external data: " + in_quotes(entry.key()) + " is given twice");
    }
    if (entry.key() == "location") place.location = entry.value();
    if (entry.key() == "offset") place.offset = parse_size(entry.value(), "offset", where);
    if (entry.key() == "length") place.length = parse_size(entry.value(), "length", where);
  }
  if (place.location.empty()) throw ModelError(where + ": external data: no location");
  return place;
}

}  // namespace

std::shared_ptr<const MappedFile> ExternalData::open(const std::string& location,
                                                     const std::string& where) {
  try {
    const InputFile file = named_.open(location);
    budget_.take_external(file.bytes(), where);
    return std::make_shared<const MappedFile>(file);
  } catch (const ModelError& error) {
    throw ModelError(where + ": external data: " + error.message());
  }
}

RawBytes ExternalData::find(const onnx::TensorProto& proto, std::int64_t bytes,
                            const std::string& where) {
  if (named_.empty()) {
    throw ModelError(where + ": keeps its data in another file, and this model has no folder (" +
                     setting("weights_folder") + " names one)");
  }
  const auto [location, offset, length] = place_of(proto, where);
  if (length && *length != bytes) {
    throw ModelError(where + ": external data: length is " + std::to_string(*length) +
                     ", the tensor needs " + std::to_string(bytes) + " bytes");
  }
  std::shared_ptr<const MappedFile>& file = files_[location];
  if (!file) file = open(location, where);
  const auto available = static_cast<std::int64_t>(file->bytes().size());
  if (offset > available || bytes > available - offset) {
    throw ModelError(where + ": external data: " + std::to_string(bytes) + " bytes at " +
                     std::to_string(offset) + " of " + in_quotes(location) + ", which has " +
                     std::to_string(available));
  }
  return {file->bytes().substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(bytes)),
          file};
}

DType onnx_dtype(std::int32_t data_type, const std::string& where) {
  using Proto = onnx::TensorProto;
  if (data_type == Proto::STRING)
    throw UnsupportedError(
        where + ": tensors of strings are not supported; encode the text as numbers before");
  if (data_type == Proto::COMPLEX64 || data_type == Proto::COMPLEX128) {
    throw UnsupportedError(
        where +
        ": complex elements are not supported; give the two parts as a last dimension of 2");
  }
  if (const std::optional<DType> type = type_of_onnx(data_type)) return *type;
  throw ModelError(where + ": element type " + std::to_string(data_type) +
                   " means nothing in ONNX");
}

Tensor to_tensor(const onnx::TensorProto& proto, const RawBytes* raw, ExternalData& external,
                 const std::string& where) {
  const DType type = onnx_dtype(proto.data_type(), where);
  if (proto.has_segment()) throw UnsupportedError(where + ": a tensor in segments, or a sequence");
  if (static_cast<std::size_t>(proto.dims_size()) > kMaxRank) {
    throw ModelError(where + ": " + std::to_string(proto.dims_size()) + " dimensions; at most " +
                     std::to_string(kMaxRank) + " are supported");
  }
  const Shape shape(proto.dims().begin(), proto.dims().end());
  external.budget().take_constant(where);
  require_elements(external.budget().limits(), shape, where);
  const std::int64_t bytes = file_bytes(type, element_count(shape, where.c_str()));
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    return from_raw(external.find(proto, bytes, where), type, shape);
  }
  if (raw == nullptr && !proto.has_raw_data()) {
    return from_typed_fields(proto, type, shape, where);
  }
  if (holds_typed_fields(proto)) throw ModelError(where + ": holds its data twice");
  const RawBytes own{proto.raw_data(), nullptr};
  const RawBytes& given = raw != nullptr ? *raw : own;
  check_size(shape, bytes, given.bytes.size(), where);
  return from_raw(given, type, shape);
}

}  // namespace morton::formats
