// SPDX-License-Identifier: Apache-2.0
#include "ops/math/integer_product.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "ops/core/elementwise.hpp"

namespace morton::ops {
namespace {

constexpr std::int64_t kLargestSum = std::numeric_limits<std::int32_t>::max();

void require_8_bits(const NodeView& node, std::size_t i) {
  const DType type = node.input(i).dtype;
  if (type == DType::u8 || type == DType::i8) return;
  node.fail("input " + std::to_string(i) + " is " + std::string(name_of(type)) +
            "; expected u8 or i8");
}

/// The largest magnitude of an operand's elements, with and without its zero point.
std::int64_t reach(const NodeView& node, std::size_t i, bool has_zero_point) {
  return node.input(i).dtype == DType::u8 || has_zero_point ? 255 : 128;
}

void check_terms(const NodeView& node, const IntegerProduct& product) {
  const IntegerOperands& at = product.operands;
  const std::int64_t largest =
      reach(node, 0, product.zero_a.has_value()) * reach(node, at.b, product.zero_b.has_value());
  const std::int64_t most = kLargestSum / largest;
  if (product.matrices.k <= most) return;
  node.unsupported("A is " + to_string(node.input(0).shape) + ", B is " +
                   to_string(node.input(at.b).shape) + ": sums of more than " +
                   std::to_string(most) + " products of " +
                   std::string(name_of(node.input(0).dtype)) + " and " +
                   std::string(name_of(node.input(at.b).dtype)) + " may not fit 32 bits");
}

/// The extents of one number for each line, where none is missing.
Shape whole_lines(const MatrixProduct& product, Lines lines) {
  Shape shape = lines == Lines::columns_of_b ? product.b : product.a;
  if (lines == Lines::rows_of_result && product.b.size() > 2) {
    shape = product.batch;
    shape.insert(shape.end(), {product.m, product.n});
  }
  shape[shape.size() - (lines == Lines::columns_of_b ? 2 : 1)] = 1;
  return shape;
}

/// The numbers spread over all lines, row-major.
std::vector<double> spread(const std::optional<PerLine>& numbers, const Shape& lines,
                           std::span<const ReferenceTensor> inputs) {
  if (!numbers) return std::vector<double>(static_cast<std::size_t>(element_count(lines)), 0.0);
  const ChainOperand operands[] = {{&inputs[numbers->input], numbers->shape, DType::f32}};
  return evaluate(Chain{}, operands, lines).value;
}

PerLine zero_point(const NodeView& node, const MatrixProduct& product, std::size_t i,
                   std::size_t of, Lines lines) {
  const DType type = node.input(i).dtype;
  const DType operand = node.input(of).dtype;
  if (type != operand) {
    node.fail("the zero point is " + std::string(name_of(type)) + ", its operand is " +
              std::string(name_of(operand)));
  }
  return per_line(node, product, i, lines);
}

}  // namespace

PerLine per_line(const NodeView& node, const MatrixProduct& product, std::size_t i, Lines lines) {
  const Shape& got = node.input(i).shape;
  if (element_count(got) == 1) return {i, {}};
  const Shape whole = whole_lines(product, lines);
  const std::size_t along = whole.size() - (lines == Lines::columns_of_b ? 1 : 2);
  if (got.size() == 1 && got[0] == whole[along]) {
    Shape shape{1, 1};
    shape[lines == Lines::columns_of_b ? 1 : 0] = got[0];
    return {i, shape};
  }
  const auto fits = [](std::int64_t a, std::int64_t of) { return a == of || a == 1; };
  if (!std::ranges::equal(got, whole, fits)) {
    node.fail("input " + std::to_string(i) + " is " + to_string(got) + "; expected one element, " +
              to_string(Shape{whole[along]}) + " or " + to_string(whole));
  }
  return {i, got};
}

Shape side_shape(const MatrixProduct& product, const PerLine& numbers) {
  Shape shape = numbers.shape;
  if (shape.empty()) return shape;
  if (product.column_is_missing) shape.pop_back();
  if (product.row_is_missing) shape.erase(shape.end() - 2);
  return shape;
}

IntegerProduct integer_product(const NodeView& node, const IntegerOperands& operands) {
  require_8_bits(node, 0);
  require_8_bits(node, operands.b);
  IntegerProduct product{matrix_product(node, operands.b), operands, {}, {}};
  const MatrixProduct& matrices = product.matrices;
  if (node.has_input(operands.zero_a)) {
    product.zero_a = zero_point(node, matrices, operands.zero_a, 0, Lines::rows_of_a);
  }
  if (node.has_input(operands.zero_b)) {
    product.zero_b = zero_point(node, matrices, operands.zero_b, operands.b, Lines::columns_of_b);
  }
  check_terms(node, product);
  return product;
}

ReferenceTensor sums_of(const IntegerProduct& product, std::span<const ReferenceTensor> inputs) {
  const MatrixProduct& matrices = product.matrices;
  const std::vector<double>& a = inputs[0].value;
  const std::vector<double>& b = inputs[product.operands.b].value;
  const auto zero_a = spread(product.zero_a, whole_lines(matrices, Lines::rows_of_a), inputs);
  const auto zero_b = spread(product.zero_b, whole_lines(matrices, Lines::columns_of_b), inputs);
  ReferenceTensor sums;
  sums.shape = matrices.result;
  for (const auto& [of_a, of_b] : matrices_of(matrices)) {
    for (std::int64_t m = of_a * matrices.m; m < (of_a + 1) * matrices.m; ++m) {
      for (std::int64_t n = 0; n < matrices.n; ++n) {
        double sum = 0.0;
        for (std::int64_t k = 0; k < matrices.k; ++k) {
          const auto i = static_cast<std::size_t>(m * matrices.k + k);
          const auto j = static_cast<std::size_t>((of_b * matrices.k + k) * matrices.n + n);
          sum += (a[i] - zero_a[static_cast<std::size_t>(m)]) *
                 (b[j] - zero_b[static_cast<std::size_t>(of_b * matrices.n + n)]);
        }
        sums.value.push_back(sum);
      }
    }
  }
  sums.error.assign(sums.value.size(), 0.0);
  return sums;
}

BoundProblem lower_integer_product(const NodeView& node, const IntegerProduct& product) {
  if (product.zero_a || product.zero_b) {
    throw InternalError(node.where() + ": a pass must take its zero points out");
  }
  BoundProblem bound = lower_matrix_product(
      node, product.operands.b, {families::integer_gemm, families::batched_integer_gemm});
  bound.problem.types["acc"] = DType::i32;
  return bound;
}

}  // namespace morton::ops
