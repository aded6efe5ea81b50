// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/core/elementwise.hpp"
#include "ops/core/expansion.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/summation.hpp"

namespace morton::ops {
namespace {

/// Y = alpha * A' * B' + beta * C, A' and B' being A and B or their transposes.
struct GemmProduct {
  std::int64_t m, n, k;
  bool transpose_a, transpose_b;
};

GemmProduct gemm_of(const NodeView& node) {
  const Shape a = node.input(0).shape;
  const Shape b = node.input(1).shape;
  if (a.size() != 2 || b.size() != 2) {
    node.fail("A is " + to_string(a) + " and B is " + to_string(b) + "; both must be matrices");
  }
  GemmProduct product{};
  product.transpose_a = node.flag("transA", 0);
  product.transpose_b = node.flag("transB", 0);
  product.m = a[product.transpose_a ? 1 : 0];
  product.k = a[product.transpose_a ? 0 : 1];
  product.n = b[product.transpose_b ? 0 : 1];
  if (product.k != b[product.transpose_b ? 1 : 0]) {
    node.fail("A " + to_string(a) + (product.transpose_a ? " transposed" : "") + " and B " +
              to_string(b) + (product.transpose_b ? " transposed" : "") +
              " have different inner extents");
  }
  return product;
}

/// C is read at all: beta = 0 leaves it out, whatever it holds.
bool reads_c(const NodeView& node) { return node.has_input(2) && node.real("beta", 1.0) != 0.0; }

/// What follows the sum over k: v is the sum, s1 is C.
Chain scale_and_add(const NodeView& node) {
  Chain chain;
  const double alpha = node.real("alpha", 1.0);
  const double beta = node.real("beta", 1.0);
  ScalarRef value = ScalarRef::input(0);
  if (alpha != 1.0) value = chain.append(ScalarOp::mul, {value, ScalarRef::constant(alpha)});
  if (!reads_c(node)) return chain;
  chain.input_count = 2;
  ScalarRef added = ScalarRef::input(1);
  if (beta != 1.0) added = chain.append(ScalarOp::mul, {added, ScalarRef::constant(beta)});
  chain.append(ScalarOp::add, {value, added});
  return chain;
}

std::vector<TensorType> infer_gemm(const NodeView& node) {
  const GemmProduct product = gemm_of(node);
  const Shape shape{product.m, product.n};
  if (node.has_input(2)) {
    const Shape c = node.input(2).shape;
    if (node.broadcast(c, shape, "C") != shape) {
      node.fail("C " + to_string(c) + " does not broadcast to " + to_string(shape));
    }
  }
  return {{node.input(0).dtype, shape}};
}

ReferenceTensor reference_gemm(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const GemmProduct product = gemm_of(node);
  const ReferenceTensor& a = inputs[0];
  const ReferenceTensor& b = inputs[1];
  const auto element = [](const ReferenceTensor& tensor, std::int64_t row, std::int64_t column) {
    const auto at = static_cast<std::size_t>(row * tensor.shape[1] + column);
    return Bounded{tensor.value[at], tensor.error[at]};
  };
  ReferenceTensor sums;
  sums.shape = {product.m, product.n};
  for (std::int64_t m = 0; m < product.m; ++m) {
    for (std::int64_t n = 0; n < product.n; ++n) {
      BoundedSum sum;
      for (std::int64_t k = 0; k < product.k; ++k) {
        sum.add_product(product.transpose_a ? element(a, k, m) : element(a, m, k),
                        product.transpose_b ? element(b, n, k) : element(b, k, n));
      }
      sums.value.push_back(sum.result().value);
      sums.error.push_back(sum.result().error);
    }
  }
  const Chain chain = scale_and_add(node);
  if (chain.is_identity()) return sums;
  std::vector<ChainOperand> operands{{&sums, sums.shape}};
  if (reads_c(node)) operands.push_back({&inputs[2], inputs[2].shape});
  return evaluate(chain, operands, sums.shape);
}

/// A transpose is a grouping: the operand's dimensions name the tensor's in the other order.
View matrix_view(const std::string& row, const std::string& column, bool transposed) {
  const auto extent = [](const std::string& name) { return Expression::variable(name); };
  if (transposed) {
    return View::grouped({row, column}, {{1}, {0}}, {extent(column), extent(row)});
  }
  return View::identity({row, column});
}

BoundProblem lower_gemm(const NodeView& node) {
  const GemmProduct product = gemm_of(node);
  BoundProblem bound;
  bound.problem.family = families::gemm;
  if (node.input(0).dtype == DType::f64) bound.problem.types["acc"] = DType::f64;
  bound.problem.extents = {{"M", product.m}, {"N", product.n}, {"K", product.k}};
  bound.operands["lhs"] = {node.input_id(0), matrix_view("M", "K", product.transpose_a)};
  bound.operands["rhs"] = {node.input_id(1), matrix_view("K", "N", product.transpose_b)};
  bound.operands["dst"] = {node.output_id(), View::identity({"M", "N"})};
  bound.problem.epilogue = scale_and_add(node);
  if (reads_c(node)) bound.sides.push_back({node.input_id(2), node.input(2).shape});
  return bound;
}

/// dY is [M, N], A' and B' as in the product: dA' = alpha dY B'^T, dB' = alpha A'^T dY, dC = beta
/// dY.
void gradient_of_gemm(Gradient& gradient) {
  const NodeView& node = gradient.node();
  const GemmProduct product = gemm_of(node);
  const TensorId output_gradient = gradient.of_output();
  const auto times = [&](TensorId a, bool transpose_a, TensorId b, bool transpose_b) {
    return gradient.add("Gemm", {a, b},
                        {{"alpha", node.real("alpha", 1.0)},
                         {"transA", std::int64_t{transpose_a}},
                         {"transB", std::int64_t{transpose_b}}});
  };
  if (gradient.wants(0)) {
    const TensorId b = node.input_id(1);
    gradient.give(0, product.transpose_a ? times(b, product.transpose_b, output_gradient, true)
                                         : times(output_gradient, false, b, !product.transpose_b));
  }
  if (gradient.wants(1)) {
    const TensorId a = node.input_id(0);
    gradient.give(1, product.transpose_b ? times(output_gradient, true, a, product.transpose_a)
                                         : times(a, !product.transpose_a, output_gradient, false));
  }
  if (gradient.wants(2) && reads_c(node)) {
    const TensorId sum = gradient.summed_to(output_gradient, node.input(2).shape);
    gradient.give(2, gradient.scaled(sum, node.real("beta", 1.0)));
  }
}

/// Without terms the sums are 0.
std::vector<TensorId> expand_gemm(Expansion& out) {
  const NodeView& node = out.node();
  if (!computes_with_nothing(out)) return {};
  const GemmProduct product = gemm_of(node);
  const TensorId zero = out.scalar(node.input(0).dtype, 0.0);
  std::vector<TensorId> operands{out.expanded(zero, {product.m, product.n})};
  if (reads_c(node)) operands.push_back(out.input(2));
  const Chain chain = scale_and_add(node);
  return {chain.is_identity() ? operands.front() : out.chain(chain, operands)};
}

}  // namespace

const Operator& operator_Gemm() {
  static const Operator kOperator{
      .name = "Gemm",
      .inputs = {.least = 2, .most = 3, .parameters = {0, 1, 2}},
      .attributes = {"alpha", "beta", "transA", "transB"},
      .infer = infer_gemm,
      .host = {.reference = reference_gemm},
      .lower = lower_gemm,
      .expand = expand_gemm,
      .types = {DType::f32, DType::f64},
      .gradient = gradient_of_gemm,
  };
  return kOperator;
}

}  // namespace morton::ops
