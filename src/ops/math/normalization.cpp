// SPDX-License-Identifier: Apache-2.0
#include "ops/math/normalization.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/core/elementwise.hpp"
#include "ops/math/summation.hpp"

namespace morton::ops {
namespace {

/// (v - s1) * (1 / s2), whose bound covers a division too.
Chain unit_chain() {
  Chain chain;
  chain.input_count = 3;
  const ScalarRef distance =
      chain.append(ScalarOp::sub, {ScalarRef::input(0), ScalarRef::input(1)});
  const ScalarRef scale =
      chain.append(ScalarOp::div, {ScalarRef::constant(1.0), ScalarRef::input(2)});
  chain.append(ScalarOp::mul, {distance, scale});
  return chain;
}

/// sqrt(v / s1 + epsilon), an f32 as ONNX's attributes are.
Chain deviation_chain(double epsilon) {
  const auto rounded = static_cast<double>(static_cast<float>(epsilon));
  Chain chain;
  chain.input_count = 2;
  const ScalarRef variance =
      chain.append(ScalarOp::div, {ScalarRef::input(0), ScalarRef::input(1)});
  const ScalarRef sum = chain.append(ScalarOp::add, {variance, ScalarRef::constant(rounded)});
  chain.append(ScalarOp::sqrt, {sum});
  return chain;
}

/// What is subtracted from a row's elements, and what the rest is divided by.
struct RowUnits {
  Bounded mean, size;
};

class RowMeasure {
 public:
  RowMeasure(Norm norm, double epsilon) : norm_(norm), deviation_(deviation_chain(epsilon)) {}

  [[nodiscard]] RowUnits of(const ReferenceTensor& source,
                            const std::vector<std::size_t>& row) const {
    const Bounded count{static_cast<double>(row.size()), 0.0};
    RowUnits units;
    if (norm_ == Norm::deviation) {
      BoundedSum sum;
      for (const std::size_t at : row) sum.add({source.value[at], source.error[at]});
      const Bounded operands[] = {sum.result(), count};
      units.mean = divide_.evaluate(operands);
    }
    BoundedSum sum;
    for (const std::size_t at : row) {
      const Bounded operands[] = {{source.value[at], source.error[at]}, units.mean};
      const Bounded distance =
          norm_ == Norm::deviation ? subtract_.evaluate(operands) : operands[0];
      if (norm_ == Norm::magnitudes) {
        sum.add({std::fabs(distance.value), distance.error});
      } else {
        sum.add_product(distance, distance);
      }
    }
    units.size = sum.result();
    if (norm_ == Norm::squares) units.size = root_.evaluate({&units.size, 1});
    // Nothing but zeros stays that.
    const auto is_zero = [&](std::size_t at) {
      return source.value[at] == 0.0 && source.error[at] == 0.0;
    };
    if (norm_ != Norm::deviation && std::ranges::all_of(row, is_zero)) units.size = {1.0, 0.0};
    if (norm_ != Norm::deviation) return units;
    const Bounded operands[] = {units.size, count};
    units.size = deviation_.evaluate(operands);
    return units;
  }

 private:
  Norm norm_;
  Chain deviation_;
  Chain divide_ = single_step(ScalarOp::div);
  Chain subtract_ = single_step(ScalarOp::sub);
  Chain root_ = single_step(ScalarOp::sqrt);
};

}  // namespace

ReferenceTensor reference_normalize(const Along& along, const ReferenceTensor& source, Norm norm,
                                    double epsilon) {
  const RowMeasure measure(norm, epsilon);
  const Chain unit = unit_chain();
  ReferenceTensor result = source;
  for_each_row(along, source.shape, [&](const std::vector<std::size_t>& row) {
    const RowUnits units = measure.of(source, row);
    // A deviation has epsilon in it.
    const bool may_be_zero = norm != Norm::deviation && std::isfinite(units.size.value) &&
                             units.size.error > 0.0 && units.size.value <= units.size.error;
    for (const std::size_t at : row) {
      const Bounded operands[] = {{source.value[at], source.error[at]}, units.mean, units.size};
      Bounded value = unit.evaluate(operands);
      if (may_be_zero) {
        value = {std::isfinite(value.value) ? value.value : 0.0,
                 std::numeric_limits<double>::infinity()};
      }
      result.value[at] = value.value;
      result.error[at] = value.error;
    }
  });
  return result;
}

RowMoments row_moments(const Along& along, const ReferenceTensor& source, double epsilon) {
  const RowMeasure measure(Norm::deviation, epsilon);
  const Chain divide = single_step(ScalarOp::div);
  RowMoments moments;
  for_each_row(along, source.shape, [&](const std::vector<std::size_t>& row) {
    const RowUnits units = measure.of(source, row);
    const Bounded operands[] = {{1.0, 0.0}, units.size};
    moments.mean.push_back(units.mean);
    moments.inverse_deviation.push_back(divide.evaluate(operands));
  });
  return moments;
}

BoundProblem lower_normalize(const NodeView& node, const Along& along, Norm norm, double epsilon) {
  const Shape shape = node.input(0).shape;
  BoundProblem bound;
  bound.problem.family = families::normalize;
  bound.problem.structure = numbers_of(NormalizeStructure{norm, static_cast<float>(epsilon)});
  set_extents(bound.problem, along, shape);
  const View view = view_along(along, shape);
  bound.operands["src"] = {node.input_id(0), view};
  bound.operands["dst"] = {node.output_id(), view};
  return bound;
}

BoundProblem lower_inverse_deviation(const NodeView& node, const Along& along, double epsilon,
                                     std::size_t output) {
  const Shape shape = node.input(0).shape;
  BoundProblem bound;
  bound.problem.family = families::inverse_deviation;
  bound.problem.structure = numbers_of(InverseDeviationStructure{static_cast<float>(epsilon)});
  set_extents(bound.problem, along, shape);
  bound.operands["src"] = {node.input_id(0), view_along(along, shape)};
  bound.operands["dst"] = {node.output_id(output),
                           view_of_reduced(along, shape, Reduced::kept_as_one)};
  return bound;
}

Chain scale_chain(Shift shift) {
  Chain chain;
  chain.input_count = shift == Shift::added ? 3 : 2;
  const ScalarRef scaled = chain.append(ScalarOp::mul, {ScalarRef::input(0), ScalarRef::input(1)});
  if (shift == Shift::added) chain.append(ScalarOp::add, {scaled, ScalarRef::input(2)});
  return chain;
}

}  // namespace morton::ops
