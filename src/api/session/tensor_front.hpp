// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "morton/tensor.hpp"

namespace morton::api {

/// The elements at the front of every dimension: as many as `shape` says, which is no larger.
[[nodiscard]] Tensor front_of(const Tensor& whole, const Shape& shape);

/// A tensor of `shape`, which is no smaller, with `front` at the front of every dimension and zeros
/// behind.
[[nodiscard]] Tensor with_zeros_behind(const Tensor& front, const Shape& shape);

}  // namespace morton::api
