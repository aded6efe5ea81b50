// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"
#include "ops/ml/lists.hpp"

namespace morton::ops {

/// What ONNX's classical models do to their scores at the end.
enum class PostTransform : std::uint8_t { none, softmax, logistic, softmax_zero, probit };

/// The attribute `post_transform`, a text or (TreeEnsemble's) a number.
[[nodiscard]] PostTransform post_transform_of(const NodeView& node);

/// `scores` [N, C] transformed, each row by itself.
[[nodiscard]] TensorId transformed(Expansion& expansion, PostTransform transform, TensorId scores);

/// Input 0 as rows of type `type`.
[[nodiscard]] TensorId rows_as(Expansion& expansion, DType type, RowRank rank = RowRank::matrix);

/// A constant of type `type` with these values.
[[nodiscard]] TensorId reals_constant(Expansion& expansion, DType type, const Shape& shape,
                                      const std::vector<double>& values);

/// The columns side by side: [N, 1] each.
[[nodiscard]] TensorId joined(Expansion& expansion, const std::vector<TensorId>& columns);

/// Scores [N, 2] of two classes of which `score` [N, 1] is the second's: the first has what is left
/// of `whole`, which is 1 of probabilities and else 0.
[[nodiscard]] TensorId two_scores(Expansion& expansion, TensorId score, PostTransform transform,
                                  double whole);

/// The classes of a classifier, from `classlabels_strings` and the list that `integers` names.
class ClassLabels {
 public:
  /// Throws ModelError unless the node states exactly one of both.
  ClassLabels(const NodeView& node, std::string_view integers);

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(labels_.size()); }
  /// The label of each row, by the place of its class [N]: of texts the place itself.
  [[nodiscard]] TensorId of_places(Expansion& expansion, TensorId places) const;
  /// The label of the class that is greatest.
  [[nodiscard]] TensorId of_greatest(Expansion& expansion, TensorId scores) const;
  /// Of two classes: the second where `score` [N, 1] is above `threshold`.
  [[nodiscard]] TensorId of_two(Expansion& expansion, TensorId score, double threshold) const;

 private:
  std::vector<std::int64_t> labels_;
};

}  // namespace morton::ops
