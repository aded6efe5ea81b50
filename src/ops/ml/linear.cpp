// SPDX-License-Identifier: Apache-2.0
//
// LinearRegressor and LinearClassifier: a product with coefficients.
#include "ops/core/expansion.hpp"
#include "ops/ml/lists.hpp"
#include "ops/ml/scores.hpp"

namespace morton::ops {
namespace {

constexpr std::int64_t kMostTargetsOfLinear = std::int64_t{1} << 20;

/// Rows times coefficients [targets, features], plus intercepts: [N, targets].
TensorId linear_scores(Expansion& expansion, std::int64_t targets) {
  const NodeView& node = expansion.node();
  const std::int64_t features = rows_of(node).features;
  const NumberList coefficients(node, "coefficients");
  const NumberList intercepts(node, "intercepts");
  require_length(node, "coefficients", coefficients.size(), targets * features,
                 "one for each target and feature");
  if (!intercepts.empty()) {
    require_length(node, "intercepts", intercepts.size(), targets, "one for each target");
  }
  std::vector<TensorId> inputs{
      rows_as(expansion, DType::f32),
      reals_constant(expansion, DType::f32, {targets, features}, coefficients.reals())};
  if (!intercepts.empty()) {
    inputs.push_back(reals_constant(expansion, DType::f32, {targets}, intercepts.reals()));
  }
  return expansion.add("Gemm", inputs, {{"transB", std::int64_t{1}}});
}

std::vector<TensorId> expand_linear_regressor(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const std::int64_t targets = node.integer("targets", 1);
  if (targets < 1 || targets > kMostTargetsOfLinear) {
    node.fail("'targets' is " + std::to_string(targets) + ", expected 1 to " +
              std::to_string(kMostTargetsOfLinear));
  }
  return {transformed(expansion, post_transform_of(node), linear_scores(expansion, targets))};
}

std::vector<TensorId> expand_linear_classifier(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const ClassLabels labels(node, "classlabels_ints");
  const std::int64_t features = rows_of(node).features;
  const std::int64_t numbers = NumberList(node, "coefficients").size();
  const bool is_single = labels.size() == 2 && numbers == features;
  const PostTransform transform = post_transform_of(node);
  const TensorId scores = linear_scores(expansion, is_single ? 1 : labels.size());
  if (is_single) {
    return {labels.of_two(expansion, scores, 0.0), two_scores(expansion, scores, transform, 1.0)};
  }
  return {labels.of_greatest(expansion, scores), transformed(expansion, transform, scores)};
}

}  // namespace

const OperatorTable& linear_operators() {
  static const OperatorTable kTable{
      feature_operator("ai.onnx.ml.LinearClassifier",
                       {"classlabels_ints", "classlabels_strings", "coefficients", "intercepts",
                        "multi_class", "post_transform"},
                       expand_linear_classifier),
      feature_operator("ai.onnx.ml.LinearRegressor",
                       {"coefficients", "intercepts", "post_transform", "targets"},
                       expand_linear_regressor),
  };
  return kTable;
}

}  // namespace morton::ops
