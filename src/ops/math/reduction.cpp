// SPDX-License-Identifier: Apache-2.0
#include "ops/math/reduction.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/algebra/typed_chain.hpp"
#include "base/numbers/exact_integers.hpp"
#include "ops/core/elementwise.hpp"
#include "ops/math/along.hpp"
#include "ops/math/summation.hpp"

namespace morton::ops {
namespace {

Bounded mapped(Reduction::Map map, const Bounded& value) {
  if (map == Reduction::Map::magnitude) return {std::fabs(value.value), value.error};
  if (map == Reduction::Map::none) return value;
  const double magnitude = std::fabs(value.value);
  return {value.value * value.value, 2.0 * magnitude * value.error + value.error * value.error};
}

/// Combines one row. The smallest and the largest move by at most the largest error of any element;
/// of a product's factors each multiplication adds its rounding, in whatever order.
class Combination {
 public:
  explicit Combination(Reduction::Combine combine) : combine_(combine) {
    result_.value = combine == Reduction::Combine::product ? 1.0 : 0.0;
  }

  void add(const Bounded& value) {
    switch (combine_) {
      case Reduction::Combine::sum:
        sum_.add(value);
        break;
      case Reduction::Combine::product: {
        const Bounded factors[] = {result_, value};
        result_ = first_ ? value : multiply_.evaluate(factors);
        break;
      }
      case Reduction::Combine::smallest:
      case Reduction::Combine::largest:
        choose(value);
        break;
    }
    first_ = false;
  }

  [[nodiscard]] Bounded result() const {
    return combine_ == Reduction::Combine::sum ? sum_.result() : result_;
  }

 private:
  void choose(const Bounded& value) {
    const bool smaller = combine_ == Reduction::Combine::smallest;
    const bool better = smaller ? value.value < result_.value : value.value > result_.value;
    // A NaN is kept once met: nothing compares with it.
    const bool nan = std::isnan(value.value);
    if (first_ || nan || (better && !std::isnan(result_.value))) result_.value = value.value;
    result_.error = first_ ? value.error : std::max(result_.error, value.error);
  }

  Reduction::Combine combine_;
  BoundedSum sum_;
  Chain multiply_ = single_step(ScalarOp::mul);
  Bounded result_;
  bool first_ = true;
};

/// What follows a combination, and does not depend on the number of elements.
Chain chain_of(Reduction::Finish finish) {
  if (finish == Reduction::Finish::square_root) return single_step(ScalarOp::sqrt);
  if (finish == Reduction::Finish::logarithm) return single_step(ScalarOp::log);
  return {};
}

Reduced reduced_of(const NodeView& node) {
  return node.flag("keepdims", 1) ? Reduced::kept_as_one : Reduced::dropped;
}

/// Of whole numbers that a double holds every step is exact; a mean is cut off toward zero.
Bounded reduce_integers(const std::vector<std::size_t>& row, const ReferenceTensor& source,
                        const Reduction& reduction, DType type) {
  double total = 0.0;
  double error = 0.0;
  for (std::size_t l = 0; l < row.size(); ++l) {
    const Bounded one = mapped(reduction.map, {source.value[row[l]], source.error[row[l]]});
    const double value = one.value;
    const double carried[] = {
        error + one.error,
        std::fabs(total) * one.error + std::fabs(value) * error + error * one.error,
        std::max(error, one.error), std::max(error, one.error)};
    const double combined[] = {total + value, total * value, std::min(total, value),
                               std::max(total, value)};
    const auto which = static_cast<std::size_t>(reduction.combine);
    total = l == 0 ? value : combined[which];
    error = error_of_whole(total, l == 0 ? one.error : carried[which]);
  }
  const bool mean = reduction.finish == Reduction::Finish::mean;
  total = wrapped(type, total);
  if (!mean) return {total, error};
  const auto count = static_cast<double>(row.size());
  return {std::trunc(total / count), error > 0 ? error / count + 1 : 0};
}

ReferenceTensor reduce(const Along& along, Reduced reduced, DType type,
                       const ReferenceTensor& source, const Reduction& reduction) {
  ReferenceTensor result;
  result.shape = reduced_shape(along, source.shape, reduced);
  const Chain divide = single_step(ScalarOp::div);
  const Chain finish = chain_of(reduction.finish);
  for_each_row(along, source.shape, [&](const std::vector<std::size_t>& row) {
    if (!is_real(type)) {
      const Bounded whole = reduce_integers(row, source, reduction, type);
      result.value.push_back(whole.value);
      result.error.push_back(whole.error);
      return;
    }
    Combination combination(reduction.combine);
    for (const std::size_t at : row) {
      combination.add(mapped(reduction.map, {source.value[at], source.error[at]}));
    }
    Bounded value = combination.result();
    if (reduction.finish == Reduction::Finish::mean) {
      const Bounded operands[] = {value, {static_cast<double>(row.size()), 0.0}};
      value = divide.evaluate(operands);
    }
    if (!finish.is_identity()) value = finish.evaluate({&value, 1});
    result.value.push_back(value.value);
    result.error.push_back(value.error);
  });
  return result;
}

}  // namespace

Along along_image(const NodeView& node) {
  const Shape shape = node.input(0).shape;
  if (shape.size() < 3) {
    node.fail("its input is " + to_string(shape) + "; a batch, channels and an image are expected");
  }
  std::vector<std::size_t> axes(shape.size() - 2);
  std::iota(axes.begin(), axes.end(), std::size_t{2});
  return along(shape.size(), axes);
}

BoundProblem lower_along(const NodeView& node, const Along& along, Reduced reduced,
                         const Reduction& reduction, TensorId dst) {
  const Shape shape = node.input(0).shape;
  BoundProblem bound;
  Problem& problem = bound.problem;
  problem.family = families::reduce;
  set_extents(problem, along, shape);
  problem.extents.insert(
      {{"P", 1}, {"DEPTH", problem.extents["L"]}, {"COUNT", problem.extents["L"]}});
  const bool is_mean = reduction.finish == Reduction::Finish::mean;
  using Last = ReduceStructure::Finish;
  problem.structure = numbers_of(
      ReduceStructure{reduction.map, reduction.combine, is_mean ? Last::mean : Last::none});
  problem.epilogue = chain_of(reduction.finish);
  problem.types["acc"] = node.input(0).dtype;
  bound.operands["src"] = {node.input_id(0), view_along(along, shape)};
  bound.operands["dst"] = {dst, view_of_reduced(along, shape, reduced, "P")};
  return bound;
}

std::vector<std::size_t> reduced_axes(const NodeView& node) {
  const std::size_t rank = node.input(0).shape.size();
  std::vector<std::int64_t> axes = node.integers("axes", {});
  if (node.has_input(1)) axes = node.value_integers(1);
  if (axes.empty() && !node.flag("noop_with_empty_axes", 0)) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
  }
  return checked_axes(node, axes, rank);
}

std::vector<DType> types_of(const Reduction& reduction) {
  if (!chain_of(reduction.finish).is_identity()) return {DType::f32, DType::f64};
  std::vector<DType> types{DType::f32, DType::f64, DType::i8,  DType::u8,  DType::i16,
                           DType::u16, DType::i32, DType::u32, DType::i64, DType::u64};
  const bool chooses = reduction.combine == Reduction::Combine::largest ||
                       reduction.combine == Reduction::Combine::smallest;
  if (chooses) types.push_back(DType::boolean);
  return types;
}

std::vector<TensorType> infer_reduction(const NodeView& node) {
  const TensorType source = node.input(0);
  const Along reduced = along(source.shape.size(), reduced_axes(node));
  return {{source.dtype, reduced_shape(reduced, source.shape, reduced_of(node))}};
}

std::vector<TensorType> infer_global_pool(const NodeView& node) {
  const TensorType source = node.input(0);
  return {{source.dtype, reduced_shape(along_image(node), source.shape, Reduced::kept_as_one)}};
}

ReferenceTensor reference_reduction(const NodeView& node, const ReferenceTensor& source,
                                    const Reduction& reduction) {
  const Along rows = along(source.shape.size(), reduced_axes(node));
  return reduce(rows, reduced_of(node), node.input(0).dtype, source, reduction);
}

BoundProblem lower_reduction(const NodeView& node, const Reduction& reduction) {
  const Along rows = along(node.input(0).shape.size(), reduced_axes(node));
  return lower_along(node, rows, reduced_of(node), reduction, node.output_id());
}

ReferenceTensor reference_global_pool(const NodeView& node, const ReferenceTensor& source,
                                      const Reduction& reduction) {
  return reduce(along_image(node), Reduced::kept_as_one, node.input(0).dtype, source, reduction);
}

BoundProblem lower_global_pool(const NodeView& node, const Reduction& reduction) {
  return lower_along(node, along_image(node), Reduced::kept_as_one, reduction, node.output_id());
}

}  // namespace morton::ops
