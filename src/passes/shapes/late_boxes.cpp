// SPDX-License-Identifier: Apache-2.0
//
// NonMaxSuppression: of boxes that cover each other the one of the highest score stays.
#include <algorithm>
#include <limits>

#include "base/shape.hpp"
#include "ops/core/node_view.hpp"
#include "passes/shapes/late_found.hpp"

namespace morton::passes {
namespace {

constexpr std::int64_t kI64 = 7;

class BoxWriter {
 public:
  BoxWriter(LateTable& table, const Node& node)
      : table_(table), out_(table.out()), node_(node), view_(table.graph(), node) {}

  void write() {
    const Shape boxes = view_.input(0).shape;
    const Shape scores = view_.input(1).shape;
    if (boxes.size() != 3 || scores.size() != 3 || boxes[2] != 4 || boxes[0] != scores[0] ||
        boxes[1] != scores[2]) {
      view_.fail("its boxes are " + to_string(boxes) + " and its scores " + to_string(scores) +
                 ", expected batch x boxes x 4 and batch x classes x boxes");
    }
    batch_ = scores[0];
    classes_ = scores[1];
    boxes_ = scores[2];
    require_fixed();
    const std::int64_t all = batch_ * classes_ * boxes_;
    const std::int64_t bound = bound_of();
    table_.require_bound(node_, bound);
    if (bound == 0) {
      out_.copy(out_.constant(Tensor::allocate(DType::i64, {0, 3})), node_.outputs[0]);
      return;
    }
    write_order();
    const TensorId kept =
        out_.add("BoxSuppression", {corners(), order_, numbers_, threshold(3), most()});
    const TensorId flags = out_.add("Cast", {kept}, {{"to", std::int64_t{9}}});
    const Found found = find_true(table_, out_.add("Reshape", {flags, out_.list({-1})}), all);
    TensorId places = table_.whole(found.places);
    if (bound < all) {
      places = out_.add("Slice", {places, out_.list({0}), out_.list({bound})});
    }
    table_.define_count(node_, found.count, bound);
    write_result(places, bound);
    table_.define(node_.outputs[0], {found.count, kNoTensor});
  }

 private:
  /// Boxes may be late, neither batch nor classes.
  void require_fixed() const {
    const bool is_fixed = table_.count(node_.inputs[0], 0) == kNoTensor &&
                          table_.count(node_.inputs[1], 0) == kNoTensor &&
                          table_.count(node_.inputs[1], 1) == kNoTensor &&
                          table_.count(node_.inputs[0], 1) == table_.count(node_.inputs[1], 2);
    if (!is_fixed) table_.refuse(node_, "late extents of its inputs are not its boxes alone");
  }

  /// How many can be kept.
  std::int64_t bound_of() const {
    std::int64_t each = boxes_;
    if (!view_.has_input(2)) return 0;
    if (view_.constant(2) != nullptr) {
      const std::vector<std::int64_t> most = view_.value_integers(2);
      if (most.size() == 1) each = std::clamp(most[0], std::int64_t{0}, each);
    }
    return batch_ * classes_ * each;
  }

  TensorId number(float value) {
    return out_.constant(Tensor::from({1}, std::vector<float>{value}));
  }

  TensorId threshold(std::size_t input) {
    if (!view_.has_input(input)) return number(0.0F);
    return out_.add("Reshape", {node_.inputs[input], out_.list({1})});
  }

  TensorId most() { return out_.add("Reshape", {node_.inputs[2], out_.list({1})}); }

  /// Boxes as two corners.
  TensorId corners() {
    const TensorId boxes = table_.whole(node_.inputs[0]);
    if (!view_.flag("center_point_box", 0)) return boxes;
    const auto part = [&](std::int64_t from) {
      return out_.add("Slice", {boxes, out_.list({from}), out_.list({from + 2}), out_.list({2})});
    };
    const TensorId half = out_.add("Mul", {part(2), number(0.5F)});
    return out_.joined({out_.add("Sub", {part(0), half}), out_.add("Add", {part(0), half})}, 2);
  }

  /// The boxes of each class by their scores, and how many of them are candidates.
  void write_order() {
    const TensorId counted = table_.count(node_.inputs[1], 2);
    TensorId scores = table_.whole(node_.inputs[1]);
    TensorId is_candidate = kNoTensor;
    if (view_.has_input(4)) is_candidate = out_.add("Greater", {scores, threshold(4)});
    if (counted != kNoTensor) {
      const TensorId there = table_.truths(counted, boxes_);
      is_candidate = is_candidate == kNoTensor
                         ? out_.add("Expand", {there, out_.list({batch_, classes_, boxes_})})
                         : out_.add("And", {is_candidate, there});
    }
    if (is_candidate == kNoTensor) {
      const std::vector<std::int64_t> numbers(static_cast<std::size_t>(batch_ * classes_), boxes_);
      numbers_ = out_.add("Reshape", {out_.list(numbers), out_.list({batch_, classes_})});
    } else {
      const TensorId ones = out_.add("Cast", {is_candidate}, {{"to", kI64}});
      numbers_ = out_.add("ReduceSum", {ones, out_.list({2})}, {{"keepdims", std::int64_t{0}}});
      scores = out_.add("Where",
                        {is_candidate, scores, number(-std::numeric_limits<float>::infinity())});
    }
    order_ = out_.add_several("TopK", {scores, out_.list({boxes_})}, 2)[1];
  }

  /// Batch, class and box of each place.
  void write_result(TensorId places, std::int64_t bound) {
    const TensorId row = out_.add("Div", {places, out_.list({boxes_})});
    const TensorId ordered = out_.add("Reshape", {order_, out_.list({-1})});
    std::vector<TensorId> columns{out_.add("Div", {row, out_.list({classes_})}),
                                  out_.add("Mod", {row, out_.list({classes_})}),
                                  out_.add("Gather", {ordered, places})};
    for (TensorId& id : columns) id = out_.add("Reshape", {id, out_.list({bound, 1})});
    out_.copy(out_.joined(columns, 1), node_.outputs[0]);
  }

  LateTable& table_;
  Splicing& out_;
  const Node& node_;
  NodeView view_;
  std::int64_t batch_ = 0;
  std::int64_t classes_ = 0;
  std::int64_t boxes_ = 0;
  TensorId order_ = kNoTensor;
  TensorId numbers_ = kNoTensor;  ///< of candidates, by batch and class
};

}  // namespace

bool write_non_max_suppression(LateTable& table, const Node& node) {
  BoxWriter(table, node).write();
  return true;
}

}  // namespace morton::passes
