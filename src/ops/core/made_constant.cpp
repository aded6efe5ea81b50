// SPDX-License-Identifier: Apache-2.0
#include "ops/core/made_constant.hpp"

#include "base/error.hpp"
#include "base/shape.hpp"

namespace morton::ops {

void require_made(DType type, const Shape& shape, const std::string& where) {
  if (element_count(shape) <= kMostMadeBytes / size_of(type)) return;
  throw UnsupportedError(where + ": needs a constant of " + std::string(name_of(type)) + " " +
                         to_string(shape) + ", which has more than " +
                         std::to_string(kMostMadeBytes >> 20) + " MiB");
}

Tensor made_constant(DType type, const Shape& shape, const std::string& where) {
  require_made(type, shape, where);
  return Tensor::allocate(type, shape);
}

}  // namespace morton::ops
