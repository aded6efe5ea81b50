// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/rooms.hpp"
#include "ops/core/operator.hpp"
#include "ops/math/matrix_product.hpp"
#include "ops/math/summation.hpp"
#include "problems/products/coded_gemm.hpp"

namespace morton::ops {
namespace {

enum CodedInput : std::size_t { kRows, kCodeBytes, kScaleOfBlock, kZeroOfBlock };

struct CodedProduct {
  problems::CodedGemmStructure codes;
  bool by_column = false;  ///< tensors of weights have a column after the other
  Shape a;
  std::int64_t m = 1, n = 0, k = 0;

  [[nodiscard]] std::int64_t bytes() const { return (k + codes.codes() - 1) / codes.codes(); }
  [[nodiscard]] std::int64_t blocks() const { return (k + codes.block - 1) / codes.block; }
  /// Of a tensor that has `rows` numbers for each column.
  [[nodiscard]] Shape of_weights(std::int64_t rows) const {
    return by_column ? Shape{n, rows} : Shape{rows, n};
  }
  /// Where the number in `row` of column n lies among `rows`.
  [[nodiscard]] std::size_t place(std::int64_t row, std::int64_t rows, std::int64_t column) const {
    return static_cast<std::size_t>(by_column ? column * rows + row : row * n + column);
  }
  [[nodiscard]] Shape result() const {
    Shape shape = a;
    shape.back() = n;
    return shape;
  }
};

void require_input(const NodeView& node, std::size_t i, DType type, const Shape& shape) {
  if (node.input(i).dtype == type && node.input(i).shape == shape) return;
  node.fail("input " + std::to_string(i) + " is " + to_string(node.input(i).shape) + " of " +
            std::string(name_of(node.input(i).dtype)) + ", expected " + to_string(shape) + " of " +
            std::string(name_of(type)));
}

CodedProduct coded_product_of(const NodeView& node) {
  CodedProduct product;
  product.codes = {node.integer("bits", 4), node.integer("block_size", 32)};
  product.by_column = node.flag("by_column", 0);
  product.a = node.input(kRows).shape;
  const Shape& bytes = node.input(kCodeBytes).shape;
  if (product.a.size() < 2 || bytes.size() != 2) {
    node.fail("A is " + to_string(product.a) + ", the codes are " + to_string(bytes) +
              "; expected a matrix, or many, and bytes for each column");
  }
  product.k = product.a.back();
  product.n = bytes[product.by_column ? 0 : 1];
  product.m = element_count(product.a) / product.k;
  const std::int64_t bits = product.codes.bits;
  if (bits != 2 && bits != 4 && bits != 8) {
    node.unsupported("codes of " + std::to_string(bits) + " bits; 2, 4 and 8 are supported");
  }
  const bool is_one = product.codes.block >= product.k;
  if (product.codes.block < 1 || (!is_one && product.codes.block % product.codes.codes() != 0)) {
    node.fail("block_size is " + std::to_string(product.codes.block) +
              ", expected K or more, or whole bytes");
  }
  require_input(node, kRows, DType::f32, product.a);
  require_input(node, kCodeBytes, DType::u8, product.of_weights(product.bytes()));
  require_input(node, kScaleOfBlock, DType::f32, product.of_weights(product.blocks()));
  require_input(node, kZeroOfBlock, DType::u8, product.of_weights(product.blocks()));
  return product;
}

std::vector<TensorType> infer_coded(const NodeView& node) {
  return {{DType::f32, coded_product_of(node).result()}};
}

/// The weight in row k of column n.
Bounded weight_at(const CodedProduct& product, std::span<const ReferenceTensor> inputs,
                  std::int64_t k, std::int64_t n) {
  const std::int64_t codes = product.codes.codes();
  const std::int64_t bits = product.codes.bits;
  const std::size_t at = product.place(k / codes, product.bytes(), n);
  const auto byte = static_cast<std::int64_t>(inputs[kCodeBytes].value[at]);
  const std::int64_t code = (byte >> (k % codes * bits)) & ((std::int64_t{1} << bits) - 1);
  const std::size_t block = product.place(k / product.codes.block, product.blocks(), n);
  const double steps = static_cast<double>(code) - inputs[kZeroOfBlock].value[block];
  const ReferenceTensor& scale = inputs[kScaleOfBlock];
  return {steps * scale.value[block], std::abs(steps) * scale.error[block]};
}

ReferenceTensor reference_coded(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const CodedProduct product = coded_product_of(node);
  const ReferenceTensor& a = inputs[kRows];
  ReferenceTensor result;
  result.shape = product.result();
  for (std::int64_t m = 0; m < product.m; ++m) {
    for (std::int64_t n = 0; n < product.n; ++n) {
      BoundedSum sum;
      for (std::int64_t k = 0; k < product.k; ++k) {
        const auto i = static_cast<std::size_t>(m * product.k + k);
        sum.add_product({a.value[i], a.error[i]}, weight_at(product, inputs, k, n));
      }
      result.value.push_back(sum.result().value);
      result.error.push_back(sum.result().error);
    }
  }
  return result;
}

/// A tensor of weights as rows x N.
View view_of_weights(const CodedProduct& product, const std::string& rows) {
  if (!product.by_column) return View::identity({rows, "N"});
  return View::grouped({rows, "N"}, {{1}, {0}},
                       {Expression::variable("N"), Expression::variable(rows)});
}

BoundProblem lower_coded(const NodeView& node) {
  const CodedProduct product = coded_product_of(node);
  BoundProblem bound;
  bound.problem.family = families::coded_gemm;
  bound.problem.extents = {{"M", product.m},
                           {"N", product.n},
                           {"K", product.k},
                           {"P", product.bytes()},
                           {"G", product.blocks()}};
  add_leading_rows(product.a, bound.problem);
  bound.problem.structure = numbers_of(product.codes);
  bound.operands["lhs"] = {node.input_id(kRows), rows_of(product.a.size(), "K")};
  bound.operands["codes"] = {node.input_id(kCodeBytes), view_of_weights(product, "P")};
  bound.operands["scales"] = {node.input_id(kScaleOfBlock), view_of_weights(product, "G")};
  bound.operands["zeros"] = {node.input_id(kZeroOfBlock), view_of_weights(product, "G")};
  bound.operands["dst"] = {node.output_id(), rows_of(product.a.size(), "N")};
  return bound;
}

}  // namespace

/// A [..., K] times weights in codes, K x N: (code - zero) * scale, with a scale and a zero for
/// each block of `block_size` rows of a column. Inputs: A, the codes' bytes
/// (problems/products/coded_gemm.hpp), scales, and zeros as u8, each with a row for each block.
/// With `by_column` these three are transposed. Sums are of f32.
const Operator& operator_CodedMatMul() {
  static const Operator kOperator{
      .name = "CodedMatMul",
      .inputs = {.least = 4, .most = 4},
      .attributes = {"bits", "block_size", "by_column"},
      .infer = infer_coded,
      .host = {.reference = reference_coded},
      .lower = lower_coded,
      .types = {DType::u8, DType::f32},
      .home = Operator::Home::inside,
  };
  return kOperator;
}

}  // namespace morton::ops
