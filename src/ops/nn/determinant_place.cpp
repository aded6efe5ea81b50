// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/core/operator.hpp"
#include "ops/math/summation.hpp"

namespace morton::ops {
namespace {

std::vector<TensorType> infer_determinant(const NodeView& node) {
  const Shape shape = node.input(0).shape;
  if (shape.size() != 3 || shape[1] != shape[2]) {
    node.fail("its input is " + to_string(shape) + ", expected square matrices");
  }
  return {{node.input(0).dtype, {shape[0], shape[1] * shape[2]}}};
}

/// One matrix, its rows as they are eliminated.
struct Elimination {
  std::vector<std::vector<double>> rows;
  double result = 1.0;
  double largest = 0.0;  ///< element that occurs on the way
};

void eliminate(Elimination& matrix) {
  auto& rows = matrix.rows;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    std::size_t pivot = k;
    for (std::size_t m = k; m < rows.size(); ++m) {
      if (std::fabs(rows[m][k]) > std::fabs(rows[pivot][k])) pivot = m;
      for (const double value : rows[m]) {
        matrix.largest = std::max(matrix.largest, std::fabs(value));
      }
    }
    if (pivot != k) {
      std::swap(rows[pivot], rows[k]);
      matrix.result = -matrix.result;
    }
    matrix.result *= rows[k][k];
    if (rows[k][k] == 0.0) return;
    for (std::size_t m = k + 1; m < rows.size(); ++m) {
      const double factor = rows[m][k] / rows[k][k];
      for (std::size_t n = k; n < rows.size(); ++n) rows[m][n] -= factor * rows[k][n];
    }
  }
}

/// What is computed is the determinant of a matrix whose rows differ by `changes`: by the inputs'
/// errors, and by what rounding does to the elements on the way, of which each row passes as many
/// as there are rows (N. Higham, "Accuracy and Stability of Numerical Algorithms", 9.3). With row
/// m changed by d the determinant moves by |d| times the lengths of the other rows at most.
double determinant_error(const std::vector<double>& lengths, const std::vector<double>& changes) {
  double all = 1.0;
  double exact = 1.0;
  for (std::size_t m = 0; m < lengths.size(); ++m) {
    all *= lengths[m] + changes[m];
    exact *= lengths[m];
  }
  constexpr auto kFlushed = static_cast<double>(std::numeric_limits<float>::min());
  return all - exact + kFlushed;
}

Bounded determinant_of(const ReferenceTensor& source, std::size_t first, std::size_t size) {
  Elimination matrix;
  std::vector<double> lengths(size, 0.0);
  std::vector<double> carried(size, 0.0);
  for (std::size_t m = 0; m < size; ++m) {
    const auto begin = source.value.begin() + static_cast<std::ptrdiff_t>(first + m * size);
    matrix.rows.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(size));
    for (std::size_t n = 0; n < size; ++n) {
      lengths[m] = std::hypot(lengths[m], matrix.rows[m][n]);
      carried[m] = std::hypot(carried[m], source.error[first + m * size + n]);
    }
  }
  eliminate(matrix);
  const auto count = static_cast<double>(size);
  const double rounded = 8.0 * count * std::sqrt(count) * kUnitRoundoff * matrix.largest;
  for (double& change : carried) change += rounded;
  return {matrix.result, determinant_error(lengths, carried) +
                             2.0 * count * kUnitRoundoff * std::fabs(matrix.result)};
}

ReferenceTensor reference_determinant(const NodeView& node,
                                      std::span<const ReferenceTensor> inputs) {
  const Shape shape = node.input(0).shape;
  const auto size = static_cast<std::size_t>(shape[1]);
  ReferenceTensor result;
  result.shape = {shape[0], shape[1] * shape[2]};
  result.value.resize(inputs[0].value.size(), 0.0);
  result.error.resize(inputs[0].value.size(), 0.0);
  for (std::size_t at = 0; at < result.value.size(); at += size * size) {
    const Bounded value = determinant_of(inputs[0], at, size);
    result.value[at] = value.value;
    result.error[at] = value.error;
  }
  return result;
}

BoundProblem lower_determinant(const NodeView& node) {
  const Shape shape = node.input(0).shape;
  BoundProblem bound;
  bound.problem.family = families::determinant;
  bound.problem.types["acc"] = node.input(0).dtype;
  bound.problem.extents = {
      {"B", shape[0]}, {"M", shape[1]}, {"N", shape[2]}, {"S", shape[1] * shape[2]}};
  bound.operands["src"] = {node.input_id(0), View::identity({"B", "M", "N"})};
  bound.operands["dst"] = {node.output_id(), View::identity({"B", "S"})};
  return bound;
}

/// The determinants themselves, in one column.
TensorId column_of_determinants(Gradient& gradient, TensorId places) {
  const std::int64_t count = gradient.shape_of(places)[0];
  return gradient.sliced(places, {0, 0}, {count, 1}, {1, 1});
}

/// What an element says is its cofactor: the determinant with its row replaced by zeros and a 1 in
/// its place. Singular matrices have it too. For N x N elements that takes N^4 numbers.
void gradient_of_determinant(Gradient& gradient) {
  const NodeView& node = gradient.node();
  if (!gradient.wants(0)) return;
  const DType type = node.input(0).dtype;
  const std::int64_t count = node.input(0).shape[0];
  const std::int64_t size = node.input(0).shape[1];
  Tensor unit = Tensor::allocate(type, {size, size});
  for (std::int64_t k = 0; k < size; ++k) unit.set(k * size + k, 1.0);
  const TensorId units = gradient.constant(std::move(unit));
  // Dimensions: matrix, row and column of the element, row and column within the matrix.
  const TensorId spread =
      gradient.expanded(gradient.reshaped(node.input_id(0), {count, 1, 1, size, size}),
                        {count, size, size, size, size});
  const TensorId rows = gradient.reshaped(units, {1, size, 1, size, 1});
  const TensorId columns = gradient.reshaped(units, {1, 1, size, 1, size});
  Chain replaced;
  replaced.input_count = 3;
  const ScalarRef is_row =
      replaced.append(ScalarOp::less, {ScalarRef::constant(0.5), ScalarRef::input(1)});
  replaced.append(ScalarOp::select, {is_row, ScalarRef::input(2), ScalarRef::input(0)});
  const TensorId matrices = gradient.reshaped(gradient.chain(replaced, {spread, rows, columns}),
                                              {count * size * size, size, size});
  const TensorId cofactors = gradient.reshaped(
      column_of_determinants(gradient, gradient.add("DeterminantPlace", {matrices})),
      {count, size, size});
  const TensorId above =
      gradient.reshaped(column_of_determinants(gradient, gradient.of_output()), {count, 1, 1});
  gradient.give(0, gradient.apply(ScalarOp::mul, {cofactors, above}));
}

}  // namespace

/// Not of ONNX: of each matrix of a batch its determinant, and zeros for its other elements: what
/// Det is composed of, whose kernel needs the memory.
const Operator& operator_DeterminantPlace() {
  static const Operator kOperator{
      .name = "DeterminantPlace",
      .since_opset = 1,
      .infer = infer_determinant,
      .host = {.reference = reference_determinant},
      .lower = lower_determinant,
      .types = {DType::f32, DType::f64},
      .takes_epilogue = false,
      .gradient = gradient_of_determinant,
      .home = Operator::Home::inside,
  };
  return kOperator;
}

}  // namespace morton::ops
