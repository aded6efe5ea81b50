// SPDX-License-Identifier: Apache-2.0
#include "problems/row_labels.hpp"

#include <algorithm>

#include "base/shape.hpp"

namespace morton::problems {
namespace {

bool has_any(const RowLabels& labels) {
  return std::ranges::any_of(labels, [](int label) { return label != 0; });
}

class LabelProof {
 public:
  LabelProof(const BoundProblem& bound, const std::function<LabelledTensor(TensorId)>& tensor)
      : bound_(bound), dst_(bound.operands.at("dst")) {
    for (const auto& [role, binding] : bound.operands) {
      if (role != "dst") operands_.emplace_back(&binding, tensor(binding.tensor));
    }
    shape_ = tensor(dst_.tensor).shape;
    for (const Side& side : bound.sides) {
      LabelledTensor facts = tensor(side.tensor);
      LabelledResult turned = labels_of_reshaped(facts, side.shape);
      if (!turned.objection.empty()) objection_ = turned.objection;
      sides_.push_back({facts.name, side.shape, turned.labels});
    }
  }

  LabelledResult run() {
    const auto marked = [](const auto& facts) { return has_any(facts.labels); };
    const bool any =
        std::ranges::any_of(sides_, marked) ||
        std::ranges::any_of(operands_, [&](const auto& o) { return marked(o.second); });
    if (!any) return {RowLabels(shape_.size(), 0), ""};
    if (!bound_.problem.family->mixes) return {{}, "is not known to keep rows apart"};
    RowLabels labels;
    for (std::size_t d = 0; d < shape_.size(); ++d) labels.push_back(label_of(d));
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      if (labels[d] != 0) check(d, labels[d]);
    }
    for (const auto& [binding, facts] : operands_) check_used(*binding, facts);
    if (!objection_.empty()) return {{}, objection_};
    return {labels, ""};
  }

 private:
  const Expression& row(std::size_t d) const { return dst_.view.coordinates[d]; }

  /// The dimension of a side that goes with dimension `d` of the result; -1 where it is the same
  /// for all.
  std::ptrdiff_t side_dimension(const LabelledTensor& side, std::size_t d) const {
    const std::size_t missing = shape_.size() - std::min(shape_.size(), side.shape.size());
    if (d < missing || side.shape[d - missing] == 1) return -1;
    return static_cast<std::ptrdiff_t>(d - missing);
  }

  /// The mark of whatever is read where dimension `d` of the result is written.
  int label_of(std::size_t d) const {
    if (row(d).variables().empty()) return 0;
    for (const auto& [binding, facts] : operands_) {
      for (std::size_t t = 0; t < facts.labels.size(); ++t) {
        if (facts.labels[t] != 0 && binding->view.coordinates[t] == row(d)) return facts.labels[t];
      }
    }
    for (const LabelledTensor& side : sides_) {
      const std::ptrdiff_t at = side_dimension(side, d);
      if (at >= 0 && side.label(static_cast<std::size_t>(at)) != 0) {
        return side.label(static_cast<std::size_t>(at));
      }
    }
    return 0;
  }

  void object(const std::string& why) {
    if (objection_.empty()) objection_ = why;
  }

  void check(std::size_t d, int label) {
    for (const std::string_view dimension : *bound_.problem.family->mixes) {
      if (row(d).variables().contains(coordinate_name(std::string(dimension)))) {
        object("computes along its rows");
      }
    }
    for (const auto& [binding, facts] : operands_) check_operand(*binding, facts, d, label);
    for (const LabelledTensor& side : sides_) {
      const std::ptrdiff_t at = side_dimension(side, d);
      if (at < 0 || side.label(static_cast<std::size_t>(at)) == label) continue;
      object("reads '" + side.name + "' as " + to_string(side.shape) +
             ", which does not go with the rows of the others");
    }
  }

  void check_operand(const Binding& binding, const LabelledTensor& facts, std::size_t d,
                     int label) {
    const auto& read = binding.view.coordinates;
    for (std::size_t t = 0; t < read.size(); ++t) {
      if (read[t] != row(d)) continue;
      if (facts.label(t) == label) return;
    }
    for (const Expression& coordinate : read) {
      for (const std::string& variable : coordinate.variables()) {
        if (!is_coordinate(variable) || !row(d).variables().contains(variable)) continue;
        object("reads '" + facts.name + "' at " + coordinate.print() + " for row " +
               row(d).print() + ", and it has no such rows");
        return;
      }
    }
  }

  /// Every mark must be the result's somewhere.
  void check_used(const Binding& binding, const LabelledTensor& facts) {
    for (std::size_t t = 0; t < facts.labels.size(); ++t) {
      if (facts.labels[t] == 0) continue;
      bool is_used = false;
      for (std::size_t d = 0; d < shape_.size(); ++d) {
        is_used = is_used || binding.view.coordinates[t] == row(d);
      }
      if (is_used) continue;
      object("joins the rows of '" + facts.name + "', which it reads at " +
             binding.view.coordinates[t].print());
    }
  }

  /// Expressions also name extents and structure, which are the same for every row.
  bool is_coordinate(const std::string& variable) const {
    const auto& dimensions = dst_.view.dimensions;
    return std::ranges::any_of(dimensions, [&](const std::string& dimension) {
      return coordinate_name(dimension) == variable;
    });
  }

  const BoundProblem& bound_;
  const Binding& dst_;
  Shape shape_;  ///< of the result
  std::vector<std::pair<const Binding*, LabelledTensor>> operands_;
  std::vector<LabelledTensor> sides_;
  std::string objection_;
};

}  // namespace

LabelledResult labels_of_result(const BoundProblem& bound,
                                const std::function<LabelledTensor(TensorId)>& tensor) {
  return LabelProof(bound, tensor).run();
}

LabelledResult labels_of_reshaped(const LabelledTensor& from, const Shape& shape) {
  LabelledResult result{RowLabels(shape.size(), 0), ""};
  const Shape strides = row_major_strides(from.shape);
  const Shape others = row_major_strides(shape);
  for (std::size_t t = 0; t < from.labels.size(); ++t) {
    if (from.labels[t] == 0) continue;
    std::size_t d = 0;
    while (d < shape.size() && (shape[d] != from.shape[t] || others[d] != strides[t])) ++d;
    if (d == shape.size()) {
      return {{}, "joins or cuts the rows of '" + from.name + "' " + to_string(from.shape)};
    }
    result.labels[d] = from.labels[t];
  }
  return result;
}

}  // namespace morton::problems
