// SPDX-License-Identifier: Apache-2.0
#include "ops/quantised/codes.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/shape.hpp"

namespace morton::ops {
namespace {

void require_lines(const NodeView& node, std::size_t i, std::optional<std::int64_t> lines,
                   const std::string& what) {
  const Shape& shape = node.input(i).shape;
  if (shape.empty() || shape == Shape{1} || (lines && shape == Shape{*lines})) return;
  node.fail(what + " (input " + std::to_string(i) + ") is " + to_string(shape) +
            "; expected one number" + (lines ? " or " + std::to_string(*lines) : ""));
}

float rounded_step(const ScalarStep& step, float a, float b) {
  switch (step.op) {
    case ScalarOp::add:
      return a + b;
    case ScalarOp::sub:
      return a - b;
    case ScalarOp::mul:
      return a * b;
    case ScalarOp::div:
      return a / b;
    default:
      throw InternalError("scales are computed with sums, products and quotients alone");
  }
}

}  // namespace

void require_codes(const NodeView& node, std::size_t i) {
  const DType type = node.input(i).dtype;
  if (type == DType::u8 || type == DType::i8) return;
  node.fail("input " + std::to_string(i) + " is of type " + std::string(name_of(type)) +
            "; expected u8 or i8");
}

void require_scale(const NodeView& node, std::size_t i, std::optional<std::int64_t> lines) {
  const DType type = node.input(i).dtype;
  if (type != DType::f32) {
    node.fail("the scale (input " + std::to_string(i) + ") is of type " +
              std::string(name_of(type)) + "; expected f32");
  }
  require_lines(node, i, lines, "the scale");
  const Tensor* known = node.constant(i);
  for (std::int64_t e = 0; known != nullptr && e < known->size(); ++e) {
    const double scale = known->at(e);
    if (scale > 0.0 && std::isfinite(scale)) continue;
    node.fail("the scale (input " + std::to_string(i) + ") holds " + std::to_string(scale) +
              "; expected a finite number above 0");
  }
}

void require_zero_point(const NodeView& node, std::size_t i, DType type,
                        std::optional<std::int64_t> lines) {
  if (!node.has_input(i)) return;
  const DType given = node.input(i).dtype;
  if (given != type) {
    node.fail("the zero point (input " + std::to_string(i) + ") is of type " +
              std::string(name_of(given)) + "; expected " + std::string(name_of(type)));
  }
  require_lines(node, i, lines, "the zero point");
}

TensorId single(Expansion& to, std::size_t i) {
  const Tensor* known = to.node().constant(i);
  return known != nullptr ? to.constant(known->reshaped({})) : to.reshaped(to.input(i), {});
}

TensorId zero_point(Expansion& to, std::size_t i, DType type) {
  return to.node().has_input(i) ? single(to, i) : to.scalar(type, 0.0);
}

DType code_type(const NodeView& node, std::size_t i, DType otherwise) {
  return node.has_input(i) ? node.input(i).dtype : otherwise;
}

TensorId decoded(Expansion& to, std::size_t i) {
  const NodeView& node = to.node();
  require_codes(node, i);
  require_scale(node, i + 1);
  require_zero_point(node, i + 2, node.input(i).dtype);
  std::vector<TensorId> inputs{to.input(i), single(to, i + 1)};
  if (node.has_input(i + 2)) inputs.push_back(single(to, i + 2));
  return to.add("DequantizeLinear", std::move(inputs));
}

TensorId encoded(Expansion& to, TensorId value, std::size_t i, DType type) {
  require_scale(to.node(), i);
  require_zero_point(to.node(), i + 1, type);
  return to.add("QuantizeLinear", {value, single(to, i), zero_point(to, i + 1, type)});
}

ScalarRef ChainWriter::tensor(TensorId id) {
  const auto place = std::ranges::find(operands_, id) - operands_.begin();
  if (place == std::ssize(operands_)) operands_.push_back(id);
  return ScalarRef::input(static_cast<int>(place));
}

ScalarRef ChainWriter::operand(TensorId id, DType type) {
  const GraphTensor& given = to_.graph().tensor(id);
  const bool is_known = given.kind == GraphTensor::Kind::constant;
  if (is_known && !operands_.empty() && given.data.size() == 1) {
    return ScalarRef::constant(given.data.at(0));
  }
  const ScalarRef value = tensor(id);
  return to_.type_of(id) == type ? value : convert(ScalarOp::cast, value, type);
}

ScalarRef ChainWriter::less_zero(ScalarRef value, ScalarRef zero) {
  const bool is_nothing = zero.kind == ScalarRef::Kind::constant && zero.value == 0.0;
  return is_nothing ? value : step(ScalarOp::sub, {value, zero});
}

TensorId ChainWriter::write() {
  chain_.input_count = static_cast<int>(operands_.size());
  return to_.chain(chain_, operands_);
}

bool ChainWriter::all_known() const {
  return std::ranges::all_of(operands_, [&](TensorId id) {
    return to_.graph().tensor(id).kind == GraphTensor::Kind::constant;
  });
}

TensorId ChainWriter::write_scales() {
  if (!all_known()) return write();
  const Shape shape = to_.shape_of(operands_.front());
  Tensor result = Tensor::allocate(DType::f32, shape);
  for (std::int64_t e = 0; e < result.size(); ++e) {
    std::vector<float> steps;
    const auto value_of = [&](const ScalarRef& ref) {
      if (ref.kind == ScalarRef::Kind::constant) return static_cast<float>(ref.value);
      if (ref.kind == ScalarRef::Kind::step) return steps[ref.place()];
      const Tensor& tensor = to_.graph().tensor(operands_[ref.place()]).data;
      return static_cast<float>(tensor.at(tensor.size() == 1 ? 0 : e));
    };
    for (const ScalarStep& step : chain_.steps) {
      const float first = value_of(step.arguments[0]);
      const bool is_conversion = step.op == ScalarOp::cast;
      steps.push_back(is_conversion ? first
                                    : rounded_step(step, first, value_of(step.arguments[1])));
    }
    result.as_mutable<float>()[static_cast<std::size_t>(e)] = value_of(chain_.result);
  }
  return to_.constant(std::move(result));
}

TensorId scales_over(GraphWriter& to, TensorId a, TensorId b, TensorId c) {
  // The one of more elements gives the shape.
  const bool is_second = element_count(to.shape_of(b)) > element_count(to.shape_of(a));
  ChainWriter chain(to);
  const ScalarRef wide = chain.tensor(is_second ? b : a);
  const ScalarRef other = chain.operand(is_second ? a : b, DType::f32);
  const ScalarRef product = chain.step(ScalarOp::mul, {wide, other});
  if (c != kNoTensor) chain.step(ScalarOp::div, {product, chain.operand(c, DType::f32)});
  return chain.write_scales();
}

}  // namespace morton::ops
