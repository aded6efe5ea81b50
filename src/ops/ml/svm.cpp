// SPDX-License-Identifier: Apache-2.0
//
// SVMRegressor and SVMClassifier: a kernel function of rows and support vectors, then a product.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/algebra/typed_chain.hpp"
#include "ops/core/expansion.hpp"
#include "ops/ml/lists.hpp"
#include "ops/ml/scores.hpp"

namespace morton::ops {
namespace {

constexpr DType kSvmType = DType::f32;
/// Of support vectors and pairs of classes, most of which are 0: what lies in memory at a time.
constexpr std::int64_t kMostWeights = std::int64_t{1} << 27;

enum class KernelFunction : std::uint8_t { linear, poly, rbf, sigmoid };

struct KernelOfVectors {
  KernelFunction function = KernelFunction::linear;
  double gamma = 0.0, coef0 = 0.0, degree = 0.0;
};

KernelOfVectors kernel_of(const NodeView& node) {
  KernelOfVectors kernel;
  kernel.function = static_cast<KernelFunction>(
      choice_of(node, "kernel_type", "LINEAR", {"LINEAR", "POLY", "RBF", "SIGMOID"}));
  const NumberList parameters(node, "kernel_params");
  if (kernel.function == KernelFunction::linear && parameters.size() != 3) return kernel;
  require_length(node, "kernel_params", parameters.size(), 3, "gamma, coef0 and degree");
  kernel.gamma = parameters.real(0);
  kernel.coef0 = parameters.real(1);
  kernel.degree = parameters.real(2);
  return kernel;
}

/// What becomes of a product of a row and a vector; of RBF of their squared distance.
Chain kernel_chain(const KernelOfVectors& kernel) {
  Chain chain;
  ScalarRef value = ScalarRef::input(0);
  const auto number = [](double one) { return ScalarRef::constant(one); };
  if (kernel.function == KernelFunction::linear) return chain;
  if (kernel.function == KernelFunction::rbf) {
    value = chain.append(ScalarOp::mul, {value, number(-kernel.gamma)});
    chain.append(ScalarOp::exp, {value});
    return chain;
  }
  value = chain.append(ScalarOp::mul, {value, number(kernel.gamma)});
  value = chain.append(ScalarOp::add, {value, number(kernel.coef0)});
  if (kernel.function == KernelFunction::sigmoid) {
    chain.append(ScalarOp::tanh, {value});
  } else {
    chain.append(ScalarOp::pow, {value, number(kernel.degree)});
  }
  return chain;
}

/// Squared distances of rows and vectors as |x|^2 + |v|^2 - 2 x v, seen from the vectors' mean, so
/// that little cancels. Rounding never makes one negative.
TensorId squared_distances(Expansion& expansion, TensorId rows, std::vector<double> vectors,
                           std::int64_t features) {
  const auto width = static_cast<std::size_t>(features);
  const auto count = static_cast<std::int64_t>(vectors.size() / width);
  std::vector<double> mean(width, 0.0);
  std::vector<double> lengths(static_cast<std::size_t>(count), 0.0);
  for (std::size_t i = 0; i < vectors.size(); ++i) mean[i % width] += vectors[i];
  for (double& one : mean) one = static_cast<float>(one / static_cast<double>(count));
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    vectors[i] -= mean[i % width];
    lengths[i / width] += vectors[i] * vectors[i];
  }
  rows = expansion.add("Sub", {rows, reals_constant(expansion, kSvmType, {1, features}, mean)});
  const TensorId products =
      expansion.add("Gemm", {rows, reals_constant(expansion, kSvmType, {count, features}, vectors)},
                    {{"transB", std::int64_t{1}}});
  const TensorId own = expansion.add("ReduceSumSquare", {rows, expansion.list({1})},
                                     {{"keepdims", std::int64_t{1}}});
  Chain chain;
  chain.input_count = 3;
  const ScalarRef both = chain.append(ScalarOp::add, {ScalarRef::input(1), ScalarRef::input(2)});
  const ScalarRef twice =
      chain.append(ScalarOp::mul, {ScalarRef::constant(2.0), ScalarRef::input(0)});
  const ScalarRef distance = chain.append(ScalarOp::sub, {both, twice});
  chain.append(ScalarOp::max, {distance, ScalarRef::constant(0.0)});
  return expansion.chain(chain,
                         {products, own, reals_constant(expansion, kSvmType, {1, count}, lengths)});
}

/// The kernel function of each row and each of `count` vectors [count, features]: [N, count].
TensorId kernel_values(Expansion& expansion, const NumberList& vectors, std::int64_t count) {
  const NodeView& node = expansion.node();
  const std::int64_t features = rows_of(node).features;
  const KernelOfVectors kernel = kernel_of(node);
  require_length(node, "support_vectors", vectors.size(), count * features,
                 "one for each vector and feature");
  const TensorId rows = rows_as(expansion, kSvmType);
  const TensorId raw =
      kernel.function == KernelFunction::rbf
          ? squared_distances(expansion, rows, vectors.reals(), features)
          : expansion.add(
                "Gemm",
                {rows, reals_constant(expansion, kSvmType, {count, features}, vectors.reals())},
                {{"transB", std::int64_t{1}}});
  const Chain chain = kernel_chain(kernel);
  return chain.is_identity() ? raw : expansion.chain(chain, {raw});
}

double rho_at(const NodeView& node, std::int64_t least) {
  const NumberList rho(node, "rho");
  if (rho.size() < least) {
    node.fail("'rho' has " + std::to_string(rho.size()) + " numbers, expected " +
              std::to_string(least));
  }
  return rho.real(0);
}

/// 1 above 0, else -1.
Chain one_class_chain() {
  Chain chain;
  const ScalarRef above =
      chain.append(ScalarOp::less, {ScalarRef::constant(0.0), ScalarRef::input(0)});
  const ScalarRef real = chain.append_conversion(ScalarOp::cast, above, kSvmType);
  const ScalarRef twice = chain.append(ScalarOp::mul, {ScalarRef::constant(2.0), real});
  chain.append(ScalarOp::sub, {twice, ScalarRef::constant(1.0)});
  return chain;
}

std::vector<TensorId> expand_svm_regressor(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const std::int64_t count = node.integer("n_supports", 0);
  const NumberList coefficients(node, "coefficients");
  const NumberList vectors(node, "support_vectors");
  const double rho = rho_at(node, 1);
  if (count < 0) node.fail("'n_supports' is " + std::to_string(count));
  const std::int64_t width = count > 0 ? count : rows_of(node).features;
  require_length(node, "coefficients", coefficients.size(), width,
                 count > 0 ? "one for each support vector" : "one for each feature");
  const TensorId values =
      count > 0 ? kernel_values(expansion, vectors, count) : rows_as(expansion, kSvmType);
  TensorId score = expansion.add(
      "Gemm", {values, reals_constant(expansion, kSvmType, {width, 1}, coefficients.reals()),
               reals_constant(expansion, kSvmType, {1}, {rho})});
  if (node.flag("one_class", 0)) score = expansion.chain(one_class_chain(), {score});
  return {transformed(expansion, post_transform_of(node), score)};
}

/// The pairs of classes that a classifier compares: (0, 1), (0, 2), ..., (1, 2), ...
std::vector<std::pair<std::int64_t, std::int64_t>> pairs_of(std::int64_t classes) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::int64_t i = 0; i < classes; ++i) {
    for (std::int64_t j = i + 1; j < classes; ++j) pairs.emplace_back(i, j);
  }
  return pairs;
}

/// For each pair the weighted sum over the support vectors of both classes: [N, pairs].
TensorId pair_scores(Expansion& expansion, std::int64_t classes) {
  const NodeView& node = expansion.node();
  const NumberList counts(node, "vectors_per_class");
  const NumberList coefficients(node, "coefficients");
  const NumberList rho(node, "rho");
  require_length(node, "vectors_per_class", counts.size(), classes, "one for each class");
  std::vector<std::int64_t> starts{0};
  for (std::int64_t c = 0; c < classes; ++c) {
    if (counts.whole(c) < 0 || counts.whole(c) > (std::int64_t{1} << 30)) {
      node.fail("class " + std::to_string(c) + " has " + std::to_string(counts.whole(c)) +
                " vectors");
    }
    starts.push_back(starts.back() + counts.whole(c));
  }
  const std::int64_t vectors = starts.back();
  if (vectors == 0) node.fail("'vectors_per_class' counts no vectors");
  const std::int64_t pair_count = classes * (classes - 1) / 2;
  require_length(node, "coefficients", coefficients.size(), (classes - 1) * vectors,
                 "one for each vector and class but one");
  require_length(node, "rho", rho.size(), pair_count, "one for each pair of classes");
  if (pair_count > kMostWeights / std::max(vectors, classes)) {
    node.unsupported("its " + std::to_string(vectors) + " vectors have more than " +
                     std::to_string(kMostWeights) + " weights for " + std::to_string(pair_count) +
                     " pairs of classes");
  }
  const auto pairs = pairs_of(classes);
  const TensorId values = kernel_values(expansion, NumberList(node, "support_vectors"), vectors);
  std::vector<double> weights(static_cast<std::size_t>(vectors * pair_count), 0.0);
  for (std::int64_t p = 0; p < pair_count; ++p) {
    const auto [i, j] = pairs[static_cast<std::size_t>(p)];
    const auto fill = [&](std::int64_t of, std::int64_t row) {
      for (std::int64_t v = starts[static_cast<std::size_t>(of)];
           v < starts[static_cast<std::size_t>(of) + 1]; ++v) {
        weights[static_cast<std::size_t>(v * pair_count + p)] =
            coefficients.real(row * vectors + v);
      }
    };
    fill(i, j - 1);
    fill(j, i);
  }
  return expansion.add("Gemm",
                       {values, reals_constant(expansion, kSvmType, {vectors, pair_count}, weights),
                        reals_constant(expansion, kSvmType, {pair_count}, rho.reals())});
}

/// How many pairs each class wins: [N, classes].
TensorId votes_of_pairs(Expansion& expansion, TensorId scores, std::int64_t classes) {
  const auto pairs = pairs_of(classes);
  const auto pair_count = static_cast<std::int64_t>(pairs.size());
  Chain chain;
  const ScalarRef above =
      chain.append(ScalarOp::less, {ScalarRef::constant(0.0), ScalarRef::input(0)});
  chain.append_conversion(ScalarOp::cast, above, kSvmType);
  std::vector<double> gains(static_cast<std::size_t>(pair_count * classes), 0.0);
  std::vector<double> lost(static_cast<std::size_t>(classes), 0.0);
  for (std::int64_t p = 0; p < pair_count; ++p) {
    const auto [i, j] = pairs[static_cast<std::size_t>(p)];
    gains[static_cast<std::size_t>(p * classes + i)] = 1.0;
    gains[static_cast<std::size_t>(p * classes + j)] = -1.0;
    lost[static_cast<std::size_t>(j)] += 1.0;
  }
  return expansion.add("Gemm", {expansion.chain(chain, {scores}),
                                reals_constant(expansion, kSvmType, {pair_count, classes}, gains),
                                reals_constant(expansion, kSvmType, {classes}, lost)});
}

/// Platt's probability that the first class of each pair wins.
TensorId pair_probabilities(Expansion& expansion, TensorId scores, const NumberList& slopes,
                            const NumberList& offsets) {
  const std::int64_t pairs = slopes.size();
  Chain chain;
  chain.input_count = 3;
  const auto number = [](double one) { return ScalarRef::constant(one); };
  const ScalarRef scaled = chain.append(ScalarOp::mul, {ScalarRef::input(0), ScalarRef::input(1)});
  const ScalarRef moved = chain.append(ScalarOp::add, {scaled, ScalarRef::input(2)});
  const ScalarRef power = chain.append(ScalarOp::exp, {moved});
  const ScalarRef below = chain.append(ScalarOp::add, {number(1.0), power});
  chain.append(ScalarOp::div, {number(1.0), below});
  return expansion.chain(chain,
                         {scores, reals_constant(expansion, kSvmType, {1, pairs}, slopes.reals()),
                          reals_constant(expansion, kSvmType, {1, pairs}, offsets.reals())});
}

std::vector<TensorId> expand_svm_classifier(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const ClassLabels labels(node, "classlabels_ints");
  const std::int64_t classes = labels.size();
  const PostTransform transform = post_transform_of(node);
  if (classes < 2) node.unsupported("it has one class");
  if (!node.has("vectors_per_class")) {
    node.unsupported("it has no support vectors (LinearClassifier is the operator for that)");
  }
  const TensorId scores = pair_scores(expansion, classes);
  const TensorId label = labels.of_greatest(expansion, votes_of_pairs(expansion, scores, classes));
  const NumberList slopes(node, "prob_a");
  const NumberList offsets(node, "prob_b");
  if (slopes.empty() && offsets.empty()) {
    if (classes > 2) return {label, transformed(expansion, transform, scores)};
    const double whole = transform == PostTransform::none ? 0.0 : 1.0;
    return {label, two_scores(expansion, scores, transform, whole)};
  }
  const auto pairs = static_cast<std::int64_t>(pairs_of(classes).size());
  require_length(node, "prob_a", slopes.size(), pairs, "one for each pair of classes");
  require_length(node, "prob_b", offsets.size(), pairs, "one for each pair of classes");
  const TensorId wins = pair_probabilities(expansion, scores, slopes, offsets);
  const TensorId coupled = expansion.add("PairwiseCoupling", {wins}, {{"classes", classes}});
  return {label, transformed(expansion, transform, coupled)};
}

Operator svm_operator(std::string_view name, std::vector<std::string_view> attributes,
                      std::vector<TensorId> (*expand)(Expansion& expansion)) {
  for (const std::string_view shared : {"coefficients", "kernel_params", "kernel_type",
                                        "post_transform", "rho", "support_vectors"}) {
    attributes.push_back(shared);
  }
  return feature_operator(name, std::move(attributes), expand);
}

}  // namespace

const OperatorTable& svm_operators() {
  static const OperatorTable kTable{
      svm_operator(
          "ai.onnx.ml.SVMClassifier",
          {"classlabels_ints", "classlabels_strings", "prob_a", "prob_b", "vectors_per_class"},
          expand_svm_classifier),
      svm_operator("ai.onnx.ml.SVMRegressor", {"n_supports", "one_class"}, expand_svm_regressor),
  };
  return kTable;
}

}  // namespace morton::ops
