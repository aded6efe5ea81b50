// SPDX-License-Identifier: Apache-2.0
#include "ops/math/integer_product.hpp"

#include "problems/gemm.hpp"

namespace morton::ops {
namespace {

/// 255 * 255 * 33,025 still fits a signed integer of 32 bits.
constexpr std::int64_t kMostTerms = 33025;

void require_8_bits(const NodeView& node, std::size_t i) {
  const DType type = node.input(i).dtype;
  if (type == DType::u8 || type == DType::i8) return;
  node.fail("input " + std::to_string(i) + " is " + std::string(name_of(type)) +
            "; expected u8 or i8");
}

std::int64_t zero_point(const NodeView& node, std::size_t i, std::size_t of) {
  if (!node.has_input(i)) return 0;
  if (node.input(i).dtype != node.input(of).dtype) {
    node.fail("the zero point is " + std::string(name_of(node.input(i).dtype)) +
              ", its operand is " + std::string(name_of(node.input(of).dtype)));
  }
  return static_cast<std::int64_t>(constant_scalar(node, i));
}

}  // namespace

double constant_scalar(const NodeView& node, std::size_t i) {
  const Tensor* value = node.constant(i);
  if (value == nullptr || value->size() != 1) {
    node.unsupported("input " + std::to_string(i) +
                     " is no constant of one element; scales and zero points for each row or "
                     "column, or given at each run, are not supported");
  }
  return value->at(0);
}

IntegerProduct integer_product(const NodeView& node, std::size_t a, std::size_t b,
                               std::size_t zero_a, std::size_t zero_b) {
  require_8_bits(node, a);
  require_8_bits(node, b);
  const Shape lhs = node.input(a).shape;
  const Shape rhs = node.input(b).shape;
  const std::string got = "A is " + to_string(lhs) + ", B is " + to_string(rhs);
  if (lhs.size() != 2 || rhs.size() != 2) node.unsupported(got + "; matrices are supported");
  if (lhs[1] != rhs[0]) node.fail(got + ": the inner extents differ");
  if (lhs[1] > kMostTerms) {
    node.unsupported(got + ": sums of more than " + std::to_string(kMostTerms) +
                     " products of 8 bits may not fit 32 bits");
  }
  return {lhs[0], rhs[1], lhs[1], zero_point(node, zero_a, a), zero_point(node, zero_b, b)};
}

ReferenceTensor sums_of(const IntegerProduct& product, const ReferenceTensor& a,
                        const ReferenceTensor& b) {
  ReferenceTensor sums;
  sums.shape = {product.m, product.n};
  for (std::int64_t m = 0; m < product.m; ++m) {
    for (std::int64_t n = 0; n < product.n; ++n) {
      std::int64_t sum = 0;
      for (std::int64_t k = 0; k < product.k; ++k) {
        const auto i = static_cast<std::size_t>(m * product.k + k);
        const auto j = static_cast<std::size_t>(k * product.n + n);
        sum += (static_cast<std::int64_t>(a.value[i]) - product.zero_a) *
               (static_cast<std::int64_t>(b.value[j]) - product.zero_b);
      }
      sums.value.push_back(static_cast<double>(sum));
    }
  }
  sums.error.assign(sums.value.size(), 0.0);
  return sums;
}

BoundProblem lower_integer_product(const NodeView& node, const IntegerProduct& product,
                                   std::size_t a, std::size_t b) {
  BoundProblem bound;
  bound.problem.family = families::integer_gemm;
  bound.problem.extents = {{"M", product.m}, {"N", product.n}, {"K", product.k}};
  bound.problem.structure = numbers_of(IntegerGemmStructure{product.zero_a, product.zero_b});
  bound.problem.types["acc"] = DType::i32;
  bound.operands["lhs"] = {node.input_id(a), View::identity({"M", "K"})};
  bound.operands["rhs"] = {node.input_id(b), View::identity({"K", "N"})};
  bound.operands["dst"] = {node.output_id(), View::identity({"M", "N"})};
  return bound;
}

}  // namespace morton::ops
