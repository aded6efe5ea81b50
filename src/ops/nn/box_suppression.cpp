// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "base/rooms.hpp"
#include "base/shape.hpp"
#include "ops/core/node_view.hpp"
#include "ops/core/operator.hpp"
#include "ops/math/summation.hpp"
#include "problems/movement/suppression.hpp"

namespace morton::ops {
namespace {

enum : std::size_t { kBoxes, kOrder, kCount, kThreshold, kMost };

void check_one_number(const NodeView& node, std::size_t input, const std::string& name) {
  const Shape shape = node.input(input).shape;
  if (shape.size() > 1 || element_count(shape) != 1) {
    node.fail("its " + name + " is of shape " + to_string(shape) + ", expected one number");
  }
}

std::vector<TensorType> infer_suppression(const NodeView& node) {
  const Shape boxes = node.input(kBoxes).shape;
  const Shape order = node.input(kOrder).shape;
  const Shape count = node.input(kCount).shape;
  if (boxes.size() != 3 || boxes[2] != 4) {
    node.fail("its boxes are " + to_string(boxes) + ", expected images x boxes x 4");
  }
  if (order.size() != 3 || order[0] != boxes[0] || count != Shape{order[0], order[1]}) {
    node.fail("its order is " + to_string(order) + " and its counts are " + to_string(count) +
              "; expected images x classes x candidates and images x classes, of " +
              std::to_string(boxes[0]) + " images");
  }
  check_one_number(node, kThreshold, "threshold");
  check_one_number(node, kMost, "largest number of boxes");
  for (const std::size_t input : {kBoxes, kThreshold}) {
    if (node.input(input).dtype != DType::f32) node.fail("its boxes and threshold must be f32");
  }
  for (const std::size_t input : {kOrder, kCount, kMost}) {
    const DType type = node.input(input).dtype;
    if (type != DType::i32 && type != DType::i64) {
      node.fail("its order, counts and largest number of boxes must be i32 or i64");
    }
  }
  return {{DType::i32, order}};
}

/// Whether errors of `error` in the corners, and of the threshold, may decide otherwise: how far
/// intersection - threshold * union moves with each extent's two corners.
bool is_open_overlap(const BoxOfCorners& a, const BoxOfCorners& b, double error,
                     const Bounded& threshold) {
  if (error == 0.0 && threshold.error == 0.0) return false;
  const auto moves = [&](double height, double width) {
    return 2.0 * error * (height + width) + 4.0 * error * error;
  };
  const auto extent = [&](std::size_t axis) {
    return std::max(std::fmin(a.high[axis], b.high[axis]) - std::fmax(a.low[axis], b.low[axis]),
                    0.0);
  };
  const double intersection = extent(0) * extent(1);
  const double all = a.area + b.area - intersection;
  const double moved = moves(extent(0), extent(1));
  const double moved_all = moves(a.high[0] - a.low[0], a.high[1] - a.low[1]) +
                           moves(b.high[0] - b.low[0], b.high[1] - b.low[1]) + moved;
  const double limit = std::fabs(threshold.value) + threshold.error;
  const double off = moved + limit * moved_all + threshold.error * all +
                     8.0 * kUnitRoundoff * (1.0 + limit) * (a.area + b.area);
  return !(std::fabs(intersection - threshold.value * all) > off);
}

/// One class of one image. From a decision on that errors may change, any candidate may be kept.
class GreedyWalk {
 public:
  GreedyWalk(std::span<const ReferenceTensor> inputs, const Shape& boxes, std::int64_t image)
      : boxes_(inputs[kBoxes]),
        threshold_{inputs[kThreshold].value[0], inputs[kThreshold].error[0]},
        most_(inputs[kMost].value[0]),
        first_(image * boxes[1]),
        number_(boxes[1]),
        is_open_(inputs[kMost].error[0] > 0.0) {
    for (std::int64_t e = first_ * 4; e < (first_ + number_) * 4; ++e) {
      error_ = std::max(error_, boxes_.error[static_cast<std::size_t>(e)]);
    }
  }

  void open() { is_open_ = true; }
  [[nodiscard]] bool is_open() const { return is_open_; }

  /// Whether the candidate is kept.
  [[nodiscard]] bool keeps(double candidate) {
    const auto n = static_cast<std::int64_t>(candidate);
    if (n < 0 || n >= number_ || static_cast<double>(kept_.size()) >= most_) return false;
    std::array<double, 4> corners{};
    std::copy_n(boxes_.value.begin() + static_cast<std::ptrdiff_t>((first_ + n) * 4), 4,
                corners.begin());
    const BoxOfCorners box(corners);
    bool keeps = true;
    for (const BoxOfCorners& other : kept_) {
      keeps = keeps && !(intersection_over_union(box, other) > threshold_.value);
      is_open_ = is_open_ || is_open_overlap(box, other, error_, threshold_);
    }
    if (keeps) kept_.push_back(box);
    return keeps;
  }

 private:
  const ReferenceTensor& boxes_;
  Bounded threshold_;
  double most_;
  std::int64_t first_;
  std::int64_t number_;
  double error_ = 0.0;
  bool is_open_;
  std::vector<BoxOfCorners> kept_;
};

ReferenceTensor reference_suppression(const NodeView& node,
                                      std::span<const ReferenceTensor> inputs) {
  const Shape order = node.input(kOrder).shape;
  ReferenceTensor result;
  result.shape = order;
  result.value.resize(static_cast<std::size_t>(element_count(order)), 0.0);
  result.error.resize(result.value.size(), 0.0);
  const auto candidates = static_cast<std::size_t>(order[2]);
  for (std::size_t row = 0; row * candidates < result.value.size(); ++row) {
    GreedyWalk walk(inputs, node.input(kBoxes).shape, static_cast<std::int64_t>(row) / order[1]);
    if (inputs[kCount].error[row] > 0.0) walk.open();
    for (std::size_t m = 0; m < candidates; ++m) {
      const std::size_t at = row * candidates + m;
      if (inputs[kOrder].error[at] > 0.0) walk.open();
      const bool is_candidate = static_cast<double>(m) < inputs[kCount].value[row];
      if (is_candidate && walk.keeps(inputs[kOrder].value[at])) result.value[at] = 1.0;
      if (walk.is_open()) result.error[at] = 1.0;
    }
  }
  return result;
}

View view_of_one_number(const NodeView& node, std::size_t input) {
  if (node.input(input).shape.empty()) return View::mapped({"E"}, {}, {});
  return View::identity({"E"});
}

BoundProblem lower_suppression(const NodeView& node) {
  const Shape boxes = node.input(kBoxes).shape;
  const Shape order = node.input(kOrder).shape;
  BoundProblem bound;
  bound.problem.family = families::suppression;
  bound.problem.types["acc"] = DType::i32;
  bound.problem.extents = {{"B", boxes[0]}, {"C", order[1]}, {"N", boxes[1]},
                           {"M", order[2]}, {"Q", boxes[2]}, {"E", 1}};
  bound.operands["boxes"] = {node.input_id(kBoxes), View::identity({"B", "N", "Q"})};
  bound.operands["order"] = {node.input_id(kOrder), View::identity({"B", "C", "M"})};
  bound.operands["count"] = {node.input_id(kCount), View::identity({"B", "C"})};
  bound.operands["threshold"] = {node.input_id(kThreshold), view_of_one_number(node, kThreshold)};
  bound.operands["most"] = {node.input_id(kMost), view_of_one_number(node, kMost)};
  bound.operands["dst"] = {node.output_id(), View::identity({"B", "C", "M"})};
  return bound;
}

}  // namespace

/// Not of ONNX: which candidates greedy non-maximum suppression keeps
/// (problems/movement/suppression.cpp). Its inputs are the family's operands in their order.
const Operator& operator_BoxSuppression() {
  static const Operator kOperator{
      .name = "BoxSuppression",
      .inputs = {.least = 5, .most = 5},
      .since_opset = 1,
      .infer = infer_suppression,
      .host = {.reference = reference_suppression},
      .lower = lower_suppression,
      .types = {DType::f32, DType::i32, DType::i64},
      .takes_epilogue = false,
      .home = Operator::Home::inside,
  };
  return kOperator;
}

}  // namespace morton::ops
