// SPDX-License-Identifier: Apache-2.0
#include "ops/core/elementwise.hpp"

#include <algorithm>
#include <iterator>

#include "base/algebra/typed_chain.hpp"
#include "base/error.hpp"
#include "base/numbers/small_types.hpp"

namespace morton::ops {
namespace {

/// For each element of `to`, row-major, the index of the element of `from` that broadcasts to it.
std::vector<std::size_t> broadcast_indices(const Shape& from, const Shape& to) {
  std::vector<std::size_t> indices{0};
  indices.reserve(static_cast<std::size_t>(element_count(to)));
  const Shape strides = row_major_strides(from);
  // Grows the list by one dimension at a time, outermost first.
  for (std::size_t d = 0; d < to.size(); ++d) {
    const bool absent = d + from.size() < to.size();
    const std::size_t own = d + from.size() - to.size();
    const bool repeats = absent || from[own] == 1;
    const std::size_t stride = repeats ? 0 : static_cast<std::size_t>(strides[own]);
    std::vector<std::size_t> grown;
    grown.reserve(indices.size() * static_cast<std::size_t>(to[d]));
    for (const std::size_t index : indices) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(to[d]); ++i) {
        grown.push_back(index + i * stride);
      }
    }
    indices = std::move(grown);
  }
  return indices;
}

std::vector<std::string> dimension_names(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < count; ++d) names.push_back("D" + std::to_string(d));
  return names;
}

/// The view of a tensor of shape `from` broadcast to `to`, with dimensions D0, D1, ...
View broadcast_view(const Shape& from, const Shape& to) {
  const auto names = dimension_names(std::max<std::size_t>(to.size(), 1));
  if (to.empty()) return View::grouped(names, {{}}, {});
  if (from == to) return View::identity(names);
  std::vector<Expression> coordinates;
  std::vector<Expression> extents;
  for (std::size_t d = to.size() - from.size(); d < to.size(); ++d) {
    const bool repeats = from[d + from.size() - to.size()] == 1;
    coordinates.push_back(repeats ? Expression(0)
                                  : Expression::variable(coordinate_name(names[d])));
    extents.push_back(repeats ? Expression(1) : Expression::variable(names[d]));
  }
  return View::mapped(names, std::move(coordinates), extents);
}

/// Says that no such operands go together, in a user's words.
std::string misfit(const std::vector<DType>& types, const Operator& op) {
  for (const DType type : types) {
    if (std::find(op.types.begin(), op.types.end(), type) != op.types.end()) continue;
    return "has an input of type " + std::string(name_of(type)) + "; expected " +
           (op.types.size() > 1 ? "one of " : "") + list_of(op.types);
  }
  return "inputs of the types " + list_of(types) + " do not go together";
}

}  // namespace

std::string list_of(const std::vector<DType>& types) {
  std::string text;
  for (const DType type : types) text += (text.empty() ? "" : ", ") + std::string(name_of(type));
  return text;
}

std::vector<DType> real_types() { return {DType::f32, DType::f16, DType::bf16, DType::f64}; }

std::vector<DType> number_types() {
  return {DType::f32, DType::f16, DType::bf16, DType::f64, DType::i8,  DType::u8,
          DType::i16, DType::u16, DType::i32,  DType::u32, DType::i64, DType::u64};
}

std::vector<DType> plain_types() {
  std::vector<DType> types = number_types();
  types.push_back(DType::boolean);
  return types;
}

std::vector<DType> all_types() {
  std::vector<DType> types = plain_types();
  std::ranges::copy(stored_types(), std::back_inserter(types));
  return types;
}

std::vector<DType> integer_types() {
  return {DType::i8,  DType::u8,  DType::i16, DType::u16,
          DType::i32, DType::u32, DType::i64, DType::u64};
}

std::vector<DType> boolean_type() { return {DType::boolean}; }

Chain single_step(ScalarOp op) {
  Chain chain;
  chain.input_count = facts_of(op).arguments;
  std::vector<ScalarRef> arguments;
  for (int i = 0; i < chain.input_count; ++i) arguments.push_back(ScalarRef::input(i));
  chain.append(op, std::move(arguments));
  return chain;
}

SoftplusTerms append_softplus(Chain& chain, ScalarRef x) {
  const ScalarRef zero = ScalarRef::constant(0.0);
  const ScalarRef above = chain.append(ScalarOp::less, {zero, x});
  const ScalarRef opposite = chain.append(ScalarOp::neg, {x});
  const ScalarRef positive = chain.append(ScalarOp::select, {above, x, zero});
  const ScalarRef distance = chain.append(ScalarOp::select, {above, opposite, x});
  const ScalarRef power = chain.append(ScalarOp::exp, {distance});
  return {positive, chain.append(ScalarOp::log1p, {power})};
}

std::vector<bool> inputs_read(const Chain& chain, std::size_t count) {
  std::vector<bool> read(count, false);
  const auto mark = [&](const ScalarRef& ref) {
    if (ref.kind == ScalarRef::Kind::input) read[ref.place()] = true;
  };
  for (const ScalarStep& step : chain.steps) {
    std::for_each(step.arguments.begin(), step.arguments.end(), mark);
  }
  mark(chain.result);
  return read;
}

ReferenceTensor evaluate(const Chain& chain, std::span<const ChainOperand> operands,
                         const Shape& result) {
  ReferenceTensor out;
  out.shape = result;
  const auto count = static_cast<std::size_t>(element_count(result));
  out.value.resize(count);
  out.error.resize(count);
  std::vector<std::vector<std::size_t>> indices;
  const std::vector<bool> read = inputs_read(chain, operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    indices.push_back(read[i] ? broadcast_indices(operands[i].shape, result)
                              : std::vector<std::size_t>{});
  }
  std::vector<Bounded> inputs(operands.size());
  std::vector<DType> types;
  for (const auto& operand : operands) types.push_back(operand.dtype);
  const TypedChain typed(chain, std::move(types));
  for (std::size_t e = 0; e < count; ++e) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!read[i]) continue;
      const std::size_t at = indices[i][e];
      inputs[i] = {operands[i].tensor->value[at], operands[i].tensor->error[at]};
    }
    const Bounded value = typed.evaluate(inputs);
    out.value[e] = value.value;
    out.error[e] = value.error;
  }
  return out;
}

std::vector<TensorType> infer_elementwise(const NodeView& node) {
  TensorType result = node.input(0);
  const Operator& op = operator_of(node.node());
  std::vector<DType> types{result.dtype};
  for (std::size_t i = 1; i < node.input_count(); ++i) {
    if (!node.has_input(i)) {
      types.push_back(result.dtype);  // the chain does not read it
      continue;
    }
    const TensorType other = node.input(i);
    if (op.inputs.types == Operator::Inputs::Types::one && other.dtype != result.dtype) {
      node.fail("inputs of types " + std::string(name_of(result.dtype)) + " and " +
                std::string(name_of(other.dtype)) + "; they must be the same");
    }
    types.push_back(other.dtype);
    result.shape = node.broadcast(result.shape, other.shape);
  }
  try {
    result.dtype = TypedChain(op.chain(node), types).result_type();
  } catch (const ModelError& error) {
    if (error.node() == node.node().name) throw;
    node.fail(misfit(types, op));
  }
  return {result};
}

BoundProblem lower_elementwise(const NodeView& node, const Chain& chain) {
  const Shape shape = node.output().shape;
  const std::vector<bool> read = inputs_read(chain, node.input_count());
  std::size_t main = 0;
  for (std::size_t i = node.input_count(); i-- > 0;) {
    if (read[i] && node.input(i).shape == shape) main = i;
  }
  BoundProblem bound;
  bound.problem.family = families::elementwise;
  const std::size_t rank = std::max<std::size_t>(shape.size(), 1);
  for (std::size_t d = 0; d < rank; ++d) {
    bound.problem.extents["D" + std::to_string(d)] = shape.empty() ? 1 : shape[d];
  }
  bound.operands["src0"] = {node.input_id(main), broadcast_view(node.input(main).shape, shape)};
  bound.operands["dst"] = {node.output_id(), broadcast_view(shape, shape)};

  // In the problem's chain src0 is input 0 and the other inputs follow in their order.
  std::vector<int> numbers(node.input_count(), 0);
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    if (i == main || !read[i]) continue;
    bound.sides.push_back({node.input_id(i), node.input(i).shape});
    numbers[i] = static_cast<int>(bound.sides.size());
  }
  bound.problem.epilogue =
      chain.after(Chain{}, static_cast<int>(main), std::vector<int>{0}, numbers);
  return bound;
}

}  // namespace morton::ops
