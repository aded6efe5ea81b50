// SPDX-License-Identifier: Apache-2.0
#include "api/session/tensor_front.hpp"

#include <algorithm>
#include <cstring>

#include "base/shape.hpp"

namespace morton::api {
namespace {

/// Calls `visit` with where each row of the front starts, in elements: in a tensor of shape
/// `whole`, and in one of shape `front`.
template <typename Visit>
void for_each_row(const Shape& whole, const Shape& front, const Visit& visit) {
  const Shape strides = row_major_strides(whole);
  Shape at(front.size(), 0);
  std::int64_t row = 0;
  while (true) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < at.size(); ++d) place += at[d] * strides[d];
    visit(static_cast<std::size_t>(place), static_cast<std::size_t>(row));
    row += front.back();
    std::size_t d = at.size() - 1;
    while (d > 0 && ++at[d - 1] == front[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace

Tensor front_of(const Tensor& whole, const Shape& shape) {
  if (shape == whole.shape()) return whole;
  Tensor result = Tensor::allocate(whole.dtype(), shape);
  if (result.size() == 0) return result;
  const auto bytes = static_cast<std::size_t>(size_of(whole.dtype()));
  const std::size_t row_bytes = static_cast<std::size_t>(shape.back()) * bytes;
  std::byte* to = result.mutable_data();
  for_each_row(whole.shape(), shape, [&](std::size_t from, std::size_t row) {
    std::memcpy(to + row * bytes, whole.data() + from * bytes, row_bytes);
  });
  return result;
}

Tensor with_zeros_behind(const Tensor& front, const Shape& shape) {
  if (shape == front.shape()) return front;
  Tensor result = Tensor::allocate(front.dtype(), shape);
  std::fill_n(result.mutable_data(), result.bytes(), std::byte{0});
  if (front.size() == 0) return result;
  const auto bytes = static_cast<std::size_t>(size_of(front.dtype()));
  const std::size_t row_bytes = static_cast<std::size_t>(front.shape().back()) * bytes;
  std::byte* to = result.mutable_data();
  for_each_row(shape, front.shape(), [&](std::size_t at, std::size_t row) {
    std::memcpy(to + at * bytes, front.data() + row * bytes, row_bytes);
  });
  return result;
}

}  // namespace morton::api
