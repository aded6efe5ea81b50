// SPDX-License-Identifier: Apache-2.0
#include "api/c/ports.hpp"

#include <algorithm>
#include <utility>

#include "api/c/versioned.hpp"
#include "base/shape.hpp"

using namespace morton;
using namespace morton::api;

static_assert(
    static_cast<int>(DType::f32) == MORTON_F32 && static_cast<int>(DType::f16) == MORTON_F16 &&
    static_cast<int>(DType::f64) == MORTON_F64 && static_cast<int>(DType::i8) == MORTON_I8 &&
    static_cast<int>(DType::u8) == MORTON_U8 && static_cast<int>(DType::i32) == MORTON_I32 &&
    static_cast<int>(DType::i64) == MORTON_I64 && static_cast<int>(DType::boolean) == MORTON_BOOL &&
    static_cast<int>(DType::bf16) == MORTON_BF16 && static_cast<int>(DType::tf32) == MORTON_TF32 &&
    static_cast<int>(DType::i16) == MORTON_I16 && static_cast<int>(DType::u16) == MORTON_U16 &&
    static_cast<int>(DType::u32) == MORTON_U32 && static_cast<int>(DType::u64) == MORTON_U64);
static_assert(static_cast<int>(DType::f8e4m3fn) == MORTON_F8E4M3FN &&
              static_cast<int>(DType::f8e4m3fnuz) == MORTON_F8E4M3FNUZ &&
              static_cast<int>(DType::f8e5m2) == MORTON_F8E5M2 &&
              static_cast<int>(DType::f8e5m2fnuz) == MORTON_F8E5M2FNUZ &&
              static_cast<int>(DType::f8e8m0) == MORTON_F8E8M0 &&
              static_cast<int>(DType::f4e2m1) == MORTON_F4E2M1 &&
              static_cast<int>(DType::f6e2m3) == MORTON_F6E2M3 &&
              static_cast<int>(DType::f6e3m2) == MORTON_F6E3M2 &&
              static_cast<int>(DType::i4) == MORTON_I4 &&
              static_cast<int>(DType::u4) == MORTON_U4 &&
              static_cast<int>(DType::i2) == MORTON_I2 && static_cast<int>(DType::u2) == MORTON_U2);

namespace {

bool is_type(morton_type type) { return type >= MORTON_F32 && type <= MORTON_U2; }

/// Of one whose extents are known; else 0.
std::size_t bytes_of(const PortInfo& port) {
  const bool is_open = std::ranges::any_of(port.shape, [](std::int64_t n) { return n < 0; });
  if (is_open || !port.form.is_tensor() || port.form.any_shape) return 0;
  return static_cast<std::size_t>(element_count(port.shape) * size_of(port.dtype));
}

/// A pointer for each extent; a list that is left empty is one of empty texts.
std::vector<const char*> pointers(const std::vector<std::string>& texts, std::size_t rank) {
  std::vector<const char*> all(rank, "");
  for (std::size_t i = 0; i < std::min(rank, texts.size()); ++i) all[i] = texts[i].c_str();
  return all;
}

}  // namespace

DType morton::api::dtype_of(morton_type type) {
  if (is_type(type)) return static_cast<DType>(type);
  throw UsageError("type " + std::to_string(type) + ": there is no such element type");
}

Shape morton::api::shape_of(const std::int64_t* extents, std::size_t rank) {
  if (rank > kMaxRank) {
    throw UsageError("rank " + std::to_string(rank) + ": at most " + std::to_string(kMaxRank));
  }
  if (rank > 0) given(extents, "extents");
  Shape shape(extents, extents + rank);
  for (const std::int64_t extent : shape) {
    if (extent < 0) throw UsageError("extents: " + to_string(shape) + " has one below 0");
  }
  try {
    static_cast<void>(element_count(shape));
  } catch (const ModelError& error) {
    throw UsageError("extents: " + error.message());
  }
  return shape;
}

void morton::api::require_bytes(const std::string& what, DType type, const Shape& shape,
                                std::size_t bytes) {
  const auto needed = static_cast<std::size_t>(element_count(shape) * size_of(type));
  if (bytes == needed) return;
  throw UsageError(what + ": expected " + std::to_string(needed) + " bytes (" +
                   std::string(name_of(type)) + " " + to_string(shape) + "), got " +
                   std::to_string(bytes));
}

Tensor morton::api::callers_tensor(const std::string& what, DType type, const Shape& shape,
                                   const void* data, std::size_t bytes) {
  require_bytes(what, type, shape, bytes);
  require_data(data, bytes, (what + ": data").c_str());
  return Tensor::share(type, shape, data, bytes, nullptr);
}

Tensor morton::api::callers_tensor(const std::string& what, const PortInfo& port, const void* data,
                                   std::size_t bytes) {
  return callers_tensor(what + " '" + port.name + "'", port.dtype, port.shape, data, bytes);
}

PortTable::PortTable(std::vector<PortInfo> ports) : ports_(std::move(ports)) {
  for (const PortInfo& port : ports_) {
    words_.push_back(
        {pointers(port.symbols, port.shape.size()), pointers(port.counts, port.shape.size())});
  }
}

void PortTable::write(std::size_t index, morton_port* to) const {
  if (index >= ports_.size()) {
    throw UsageError("index " + std::to_string(index) + ": there are " +
                     std::to_string(ports_.size()) + " of these");
  }
  const PortInfo& from = ports_[index];
  morton_port port{};
  port.name = from.name.c_str();
  port.type = type_of(from.dtype);
  port.is_tensor = from.form.is_tensor() ? 1 : 0;
  port.rank = from.shape.size();
  port.extents = from.shape.data();
  port.symbols = words_[index].symbols.data();
  port.counts = words_[index].counts.data();
  port.bytes = bytes_of(from);
  write_versioned(to, port, "port");
}

const PortInfo* PortTable::find(const std::string& name) const {
  const auto found = std::ranges::find(ports_, name, &PortInfo::name);
  return found == ports_.end() ? nullptr : &*found;
}

const char* morton_type_name(morton_type type) {
  // Names are literals, which end in a zero.
  return is_type(type) ? name_of(static_cast<DType>(type)).data() : nullptr;
}

size_t morton_type_size(morton_type type) {
  return is_type(type) ? static_cast<size_t>(size_of(static_cast<DType>(type))) : 0;
}
