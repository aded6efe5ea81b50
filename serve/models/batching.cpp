// SPDX-License-Identifier: Apache-2.0
#include "models/batching.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

namespace morton::serve {
namespace {

/// Bytes of the dimensions behind `dimension`, and the product of those before it.
struct Stretches {
  std::size_t inner_bytes = 0;
  std::int64_t outer = 1;
};

Stretches stretches_of(const Tensor& tensor, std::size_t dimension) {
  Stretches found{static_cast<std::size_t>(size_of(tensor.dtype())), 1};
  const Shape& shape = tensor.shape();
  for (std::size_t d = 0; d < dimension; ++d) found.outer *= shape[d];
  for (std::size_t d = dimension + 1; d < shape.size(); ++d) {
    found.inner_bytes *= static_cast<std::size_t>(shape[d]);
  }
  return found;
}

/// Copies all items of `part` into `whole`, from item `first` on.
void copy_items(const Tensor& part, Tensor& whole, std::size_t dimension, std::int64_t first) {
  const Stretches at = stretches_of(whole, dimension);
  const auto bytes = static_cast<std::size_t>(part.shape()[dimension]) * at.inner_bytes;
  const auto pitch = static_cast<std::size_t>(whole.shape()[dimension]) * at.inner_bytes;
  std::byte* to = whole.mutable_data() + static_cast<std::size_t>(first) * at.inner_bytes;
  const std::byte* from = part.stored();
  for (std::int64_t i = 0; i < at.outer; ++i, to += pitch, from += bytes) {
    std::memcpy(to, from, bytes);
  }
}

}  // namespace

std::vector<Tensor> joined_inputs(std::span<const Pending> requests,
                                  std::span<const std::size_t> dimensions, std::int64_t items) {
  const Pending& first = requests.front();
  if (requests.size() == 1 && first.items == items) return first.inputs;
  std::vector<Tensor> joined;
  for (std::size_t i = 0; i < first.inputs.size(); ++i) {
    Shape shape = first.inputs[i].shape();
    shape[dimensions[i]] = items;
    Tensor whole = Tensor::allocate(first.inputs[i].dtype(), shape);
    std::int64_t at = 0;
    for (const Pending& request : requests) {
      copy_items(request.inputs[i], whole, dimensions[i], at);
      at += request.items;
    }
    joined.push_back(std::move(whole));
  }
  return joined;
}

Tensor items_of(const Tensor& output, std::size_t dimension, std::int64_t first,
                std::int64_t count) {
  if (first == 0 && count == output.shape()[dimension]) return output;
  const Stretches at = stretches_of(output, dimension);
  Shape shape = output.shape();
  const auto pitch = static_cast<std::size_t>(shape[dimension]) * at.inner_bytes;
  shape[dimension] = count;
  const auto bytes = static_cast<std::size_t>(count) * at.inner_bytes;
  const std::byte* from = output.stored() + static_cast<std::size_t>(first) * at.inner_bytes;
  if (at.outer == 1) {
    return Tensor::share(output.dtype(), shape, from, bytes, std::make_shared<Tensor>(output));
  }
  Tensor part = Tensor::allocate(output.dtype(), shape);
  std::byte* to = part.mutable_data();
  for (std::int64_t i = 0; i < at.outer; ++i, to += bytes, from += pitch) {
    std::memcpy(to, from, bytes);
  }
  return part;
}

std::int64_t batch_size_for(std::int64_t items, std::int64_t most) {
  const auto power = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(items)));
  return std::min(power, most);
}

}  // namespace morton::serve
