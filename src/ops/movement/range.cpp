// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/numbers/exact_integers.hpp"
#include "base/rooms.hpp"
#include "base/shape.hpp"
#include "ops/core/operator.hpp"

namespace morton::ops {
namespace {

double number_at(const NodeView& node, std::size_t i) {
  const Tensor& value = node.value(i);
  if (value.size() != 1 || value.dtype() != node.input(0).dtype) {
    node.fail("input " + std::to_string(i) + " is " + std::string(name_of(value.dtype())) + " " +
              to_string(value.shape()) + ", expected one " +
              std::string(name_of(node.input(0).dtype)));
  }
  const double number = value.at(0);
  if (std::fabs(number) > kExactIntegers) node.unsupported("a bound is beyond 2^53");
  return number;
}

/// start, start + delta, ... before limit.
std::vector<TensorType> infer_range(const NodeView& node) {
  const double start = number_at(node, 0);
  const double limit = number_at(node, 1);
  const double delta = number_at(node, 2);
  const double count = std::ceil((limit - start) / delta);
  constexpr double kMost = 2147483647.0;
  if (delta == 0.0 || !(count <= kMost)) {
    node.fail("from " + std::to_string(start) + " to " + std::to_string(limit) + " in steps of " +
              std::to_string(delta) + " there are too many numbers");
  }
  return {{node.input(0).dtype, {count > 0.0 ? static_cast<std::int64_t>(count) : 0}}};
}

std::vector<Tensor> values_of_range(const NodeView& node) {
  const TensorType type = infer_range(node)[0];
  const double start = number_at(node, 0);
  const double delta = number_at(node, 2);
  Tensor result = Tensor::allocate(type.dtype, type.shape);
  for (std::int64_t i = 0; i < result.size(); ++i) {
    result.set(i, start + static_cast<double>(i) * delta);
  }
  return {result};
}

}  // namespace

const Operator& operator_Range() {
  static const Operator kOperator{
      .name = "Range",
      .inputs = {.least = 3, .most = 3, .planned = {0, 1, 2}},
      .since_opset = 11,
      .infer = infer_range,
      .host = {.values = values_of_range},
      .takes_epilogue = false,
  };
  return kOperator;
}

}  // namespace morton::ops
