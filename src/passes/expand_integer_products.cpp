// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "ops/core/graph_writer.hpp"
#include "ops/math/requantisation.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace morton::passes {
namespace {

bool is_expanded(const Node& node) {
  if (node.op == "QLinearMatMul") return true;
  return node.op == "MatMulInteger" && node.operand_count() > 2;
}

/// The shape without ones at its front, which say nothing to NumPy's rule.
Shape bare(const Shape& shape) {
  const auto first = std::ranges::find_if(shape, [](std::int64_t extent) { return extent != 1; });
  return {first, shape.end()};
}

/// Makes one node a plain MatMulInteger with an epilogue.
class Expansion {
 public:
  Expansion(Graph& graph, const Node& node)
      : node_(node), view_(graph, node_), to_(graph, node_.name) {
    result_.op = "MatMulInteger";
    result_.name = node_.name;
    result_.outputs = node_.outputs;
    result_.copy = node_.copy;
  }

  Node run() {
    if (!node_.epilogue.is_identity()) {
      throw InternalError(view_.where() + ": was fused before its zero points were taken out");
    }
    std::optional<Requantisation> requantisation;
    if (node_.op == "QLinearMatMul") {
      requantisation = requantisation_of(view_);
      product_ = requantisation->product;
    } else {
      product_ = integer_product(view_, {});
    }
    result_.inputs = {view_.input_id(0), view_.input_id(product_.operands.b)};
    if (is_zero(product_.zero_a)) product_.zero_a.reset();
    if (is_zero(product_.zero_b)) product_.zero_b.reset();
    if (product_.zero_b) take_off_zero_b();
    if (product_.zero_a) take_off_zero_a();
    if (requantisation) requantise(*requantisation);
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool is_zero(const std::optional<PerLine>& numbers) const {
    const Tensor* value = numbers ? view_.constant(numbers->input) : nullptr;
    for (std::int64_t i = 0; value != nullptr && i < value->size(); ++i) {
      if (value->at(i) != 0.0) return false;
    }
    return value != nullptr;
  }

  /// The number that the input is, where it is known and one.
  [[nodiscard]] std::optional<ScalarRef> known(const PerLine& numbers) const {
    const Tensor* value = view_.constant(numbers.input);
    if (value == nullptr || value->size() != 1) return std::nullopt;
    return ScalarRef::constant(value->at(0));
  }

  /// The input in a shape that broadcasts to the result.
  TensorId lying_as_side(const PerLine& numbers) {
    const TensorId id = view_.input_id(numbers.input);
    const Shape shape = side_shape(product_.matrices, numbers);
    const Shape& own = to_.shape_of(id);
    if (shape.empty()) return own.empty() ? id : to_.add("Squeeze", {id});
    const bool broadcasts = bare(own) == bare(shape) && own.size() <= shape.size();
    return broadcasts ? id : to_.reshaped(id, shape);
  }

  /// A side operand of the product's epilogue.
  ScalarRef side(TensorId id) {
    result_.inputs.push_back(id);
    return ScalarRef::input(result_.epilogue.input_count++);
  }

  /// The input as a number of this type in `chain`: a constant, or `operand`.
  ScalarRef number(Chain& chain, const PerLine& numbers, ScalarRef operand, DType type) {
    if (const auto constant = known(numbers)) return *constant;
    return chain.append_conversion(ScalarOp::cast, operand, type);
  }

  /// The same as side operand of the product's epilogue.
  ScalarRef side_number(const PerLine& numbers, DType type) {
    if (const auto constant = known(numbers)) return *constant;
    const ScalarRef operand = side(lying_as_side(numbers));
    return result_.epilogue.append_conversion(ScalarOp::cast, operand, type);
  }

  /// `chain` over lines, its input 0, and the numbers, its input 1 where they are not known.
  TensorId applied(Chain chain, TensorId lines, const PerLine& numbers) {
    std::vector<TensorId> operands{lines};
    if (!known(numbers)) operands.push_back(lying_as_side(numbers));
    chain.input_count = static_cast<int>(operands.size());
    return to_.chain(chain, operands);
  }

  /// A matrix of ones, or a vector.
  TensorId ones(const Shape& shape) {
    Tensor values = Tensor::allocate(DType::u8, shape);
    for (std::uint8_t& value : values.as_mutable<std::uint8_t>()) value = 1;
    return to_.constant(std::move(values));
  }

  void subtract(ScalarRef from, ScalarRef what) {
    result_.epilogue.append(ScalarOp::sub, {from, what});
  }

  /// Subtracts lines * numbers: with one number the lines are multiplied before.
  void subtract_product(TensorId lines, const PerLine& numbers) {
    const ScalarRef from = result_.epilogue.result;
    if (numbers.shape.empty()) {
      Chain scale;
      const ScalarRef by = number(scale, numbers, ScalarRef::input(1), DType::i32);
      scale.append(ScalarOp::mul, {ScalarRef::input(0), by});
      subtract(from, side(applied(std::move(scale), lines, numbers)));
      return;
    }
    const ScalarRef line = side(lines);
    const ScalarRef by = side_number(numbers, DType::i32);
    subtract(from, result_.epilogue.append(ScalarOp::mul, {line, by}));
  }

  /// zb * (sum over k of a).
  void take_off_zero_b() {
    const std::int64_t k = product_.matrices.k;
    const bool is_vector = product_.matrices.column_is_missing;
    const TensorId column = ones(is_vector ? Shape{k} : Shape{k, 1});
    const TensorId rows = to_.add("MatMulInteger", {result_.inputs[0], column});
    subtract_product(rows, *product_.zero_b);
  }

  /// za * (sum over k of b - K * zb).
  void take_off_zero_a() {
    const std::int64_t k = product_.matrices.k;
    const bool is_vector = product_.matrices.row_is_missing;
    const TensorId row = ones(is_vector ? Shape{k} : Shape{1, k});
    TensorId columns = to_.add("MatMulInteger", {row, result_.inputs[1]});
    if (product_.zero_b) {
      const PerLine& zero_b = *product_.zero_b;
      Chain move;
      const ScalarRef zero = number(move, zero_b, ScalarRef::input(1), DType::i32);
      const auto times = ScalarRef::constant(static_cast<double>(k));
      const ScalarRef all = zero.kind == ScalarRef::Kind::constant
                                ? ScalarRef::constant(zero.value * static_cast<double>(k))
                                : move.append(ScalarOp::mul, {zero, times});
      move.append(ScalarOp::sub, {ScalarRef::input(0), all});
      columns = applied(std::move(move), columns, zero_b);
    }
    subtract_product(columns, *product_.zero_a);
  }

  ScalarRef multiplier(const Requantisation& part) {
    const PerLine* scales[] = {&part.scale_a, &part.scale_b, &part.scale_y};
    if (part.multiplier) {
      const Shape shape = side_shape(product_.matrices, {0, part.multiplier->shape()});
      if (shape.empty()) return ScalarRef::constant(part.multiplier->at(0));
      return side(to_.constant(part.multiplier->reshaped(shape)));
    }
    const bool is_single =
        std::ranges::all_of(scales, [](const PerLine* scale) { return scale->shape.empty(); });
    if (is_single) {
      Chain chain;
      chain.input_count = 3;
      append_multiplier(chain, ScalarRef::input(0), ScalarRef::input(1), ScalarRef::input(2));
      std::vector<TensorId> operands;
      for (const PerLine* scale : scales) operands.push_back(lying_as_side(*scale));
      return side(to_.chain(chain, operands));
    }
    ScalarRef refs[3];
    for (std::size_t i = 0; i < 3; ++i) refs[i] = side(lying_as_side(*scales[i]));
    return append_multiplier(result_.epilogue, refs[0], refs[1], refs[2]);
  }

  void requantise(const Requantisation& part) {
    const ScalarRef sum = result_.epilogue.result;
    const ScalarRef by = multiplier(part);
    const ScalarRef zero = side_number(part.zero_y, DType::f32);
    append_requantisation(result_.epilogue, sum, by, zero, part.type);
  }

  Node node_;
  NodeView view_;
  GraphWriter to_;
  IntegerProduct product_;
  Node result_;
};

}  // namespace

int expand_integer_products(Graph& graph, const PassOptions& /*options*/) {
  int expanded = 0;
  // The nodes that are written stand behind these.
  const std::size_t count = graph.nodes.size();
  for (std::size_t n = 0; n < count; ++n) {
    if (!is_expanded(graph.nodes[n])) continue;
    Node plain = Expansion(graph, graph.nodes[n]).run();
    graph.nodes[n] = std::move(plain);
    ++expanded;
  }
  if (expanded > 0) sort_topologically(graph);
  return expanded;
}

}  // namespace morton::passes
