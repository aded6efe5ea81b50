// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "base/rooms.hpp"
#include "ops/core/node_view.hpp"
#include "ops/core/operator.hpp"
#include "ops/math/summation.hpp"
#include "problems/classical.hpp"

namespace morton::ops {
namespace {

/// Kernels keep a class's numbers in registers.
constexpr std::int64_t kMostClasses = 256;

std::vector<TensorType> infer_coupling(const NodeView& node) {
  const std::int64_t classes = node.integer("classes", 2);
  const Shape shape = node.input(0).shape;
  if (classes < 2 || classes > kMostClasses) {
    node.unsupported("probabilities of " + std::to_string(classes) + " classes, expected 2 to " +
                     std::to_string(kMostClasses));
  }
  if (shape.size() != 2 || shape[1] != classes * (classes - 1) / 2) {
    node.fail("its pairs have the shape " + to_string(shape));
  }
  return {{DType::f32, {shape[0], classes}}};
}

/// A step more or less, where rounding may decide which is the last, and what rounding and the
/// pairs' errors add up to: an iteration that converges does not enlarge them.
ReferenceTensor reference_coupling(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const std::int64_t classes = node.integer("classes", 2);
  const auto pairs = static_cast<std::size_t>(classes * (classes - 1) / 2);
  const double close = kCouplingDistance / static_cast<double>(classes);
  ReferenceTensor result;
  result.shape = infer_coupling(node)[0].shape;
  for (std::size_t row = 0; row * pairs < inputs[0].value.size(); ++row) {
    const auto first = inputs[0].value.begin() + static_cast<std::ptrdiff_t>(row * pairs);
    const auto error = inputs[0].error.begin() + static_cast<std::ptrdiff_t>(row * pairs);
    const double carried =
        pairs == 0 ? 0.0 : *std::max_element(error, error + static_cast<std::ptrdiff_t>(pairs));
    const double slack = 64.0 * kUnitRoundoff * static_cast<double>(classes) + 4.0 * carried;
    PairwiseCoupling<double> coupling({first, first + static_cast<std::ptrdiff_t>(pairs)}, classes);
    std::vector<double> errors(static_cast<std::size_t>(classes), 0.0);
    double distance = coupling.distance();
    for (int s = 0; s < kCouplingSteps && distance >= close; ++s) {
      const std::vector<double> before = coupling.value;
      const bool is_open = distance - close <= slack;
      coupling.step();
      distance = coupling.distance();
      for (std::size_t c = 0; is_open && c < before.size(); ++c) {
        errors[c] += std::fabs(coupling.value[c] - before[c]);
      }
    }
    const std::vector<double> last = coupling.value;
    if (close - distance <= slack) {
      coupling.step();
      for (std::size_t c = 0; c < last.size(); ++c) {
        errors[c] += std::fabs(coupling.value[c] - last[c]);
      }
    }
    for (std::size_t c = 0; c < last.size(); ++c) {
      result.value.push_back(last[c]);
      result.error.push_back(errors[c] + slack * static_cast<double>(classes));
    }
  }
  return result;
}

BoundProblem lower_coupling(const NodeView& node) {
  const Shape shape = node.input(0).shape;
  BoundProblem bound;
  bound.problem.family = families::coupling;
  bound.problem.types["acc"] = DType::f32;
  bound.problem.structure = numbers_of(CouplingStructure{node.integer("classes", 2)});
  bound.problem.extents = {{"N", shape[0]}, {"P", shape[1]}};
  bound.operands["src"] = {node.input_id(0), View::identity({"N", "P"})};
  bound.operands["dst"] = {node.output_id(), View::identity({"N", "C"})};
  return bound;
}

}  // namespace

/// Not of ONNX: probabilities of classes from those of each pair, for SVMClassifier.
const Operator& operator_PairwiseCoupling() {
  static const Operator kOperator{
      .name = "PairwiseCoupling",
      .attributes = {"classes"},
      .since_opset = 1,
      .infer = infer_coupling,
      .host = {.reference = reference_coupling},
      .lower = lower_coupling,
      .home = Operator::Home::inside,
  };
  return kOperator;
}

}  // namespace morton::ops
