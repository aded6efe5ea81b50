// SPDX-License-Identifier: Apache-2.0
#include "protocol/raw_tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <morton/error.hpp>

namespace morton::serve {
namespace {

bool are_truths(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte one) { return one <= std::byte{1}; });
}

}  // namespace

std::optional<std::size_t> elements_of(const Shape& shape, std::size_t most) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent == 0) return 0;
    if (static_cast<std::size_t>(extent) > most / count) return std::nullopt;
    count *= static_cast<std::size_t>(extent);
  }
  return count;
}

Tensor tensor_of_bytes(DType type, const Shape& shape, std::span<const std::byte> bytes,
                       const std::shared_ptr<const void>& owner, HeldMemory& held,
                       const std::string& place) {
  const auto size = static_cast<std::size_t>(size_of(type));
  const auto elements = elements_of(shape, bytes.size() / size);
  if (!elements || *elements * size != bytes.size()) {
    throw UsageError(fmt::format("{}: {} bytes, which is not what the shape [{}] needs", place,
                                 bytes.size(), fmt::join(shape, ", ")));
  }
  if (type == DType::boolean && !are_truths(bytes)) {
    throw UsageError(place + ": a byte of BOOL is neither 0 nor 1");
  }
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % size == 0) {
    return Tensor::share(type, shape, bytes.data(), bytes.size(), owner);
  }
  held.need(bytes.size());
  Tensor copy = Tensor::allocate(type, shape);
  std::ranges::copy(bytes, copy.mutable_data());
  return copy;
}

}  // namespace morton::serve
