// SPDX-License-Identifier: Apache-2.0
#include "ops/math/scattering.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/algebra/typed_chain.hpp"
#include "base/numbers/exact_integers.hpp"
#include "ops/math/along.hpp"
#include "ops/math/summation.hpp"

namespace morton::ops {
namespace {

using Combining = ScatterStructure::Reduction;

constexpr std::array<std::string_view, 5> kReductions{"none", "add", "mul", "max", "min"};

/// The sums lie in memory as they grow.
double scatter_rounding(DType type, double value) {
  constexpr auto kFlushed = static_cast<double>(std::numeric_limits<float>::min());
  const double least = type == DType::f16 ? std::ldexp(1.0, -24) : kFlushed;
  return unit_roundoff(type) * std::fabs(value) + least;
}

Bounded combined_into(Combining reduction, DType type, const Bounded& a, const Bounded& b) {
  Bounded result;
  if (reduction == Combining::none) return b;
  if (reduction == Combining::largest || reduction == Combining::smallest) {
    const bool second = reduction == Combining::largest ? b.value > a.value : b.value < a.value;
    result.value = second || std::isnan(b.value) ? b.value : a.value;
    result.error = std::max(a.error, b.error);
    return result;
  }
  const bool sum = reduction == Combining::add;
  result.value = sum ? a.value + b.value : a.value * b.value;
  const double carried =
      sum ? a.error + b.error
          : std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + a.error * b.error;
  if (!is_real(type)) {
    return {wrapped(type, result.value), error_of_whole(result.value, carried)};
  }
  result.error = carried + scatter_rounding(type, std::fabs(result.value) + carried);
  return result;
}

Grouping grouping_of(const std::vector<std::vector<int>>& groups) {
  Grouping grouping(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) grouping[g].append(groups[g]);
  return grouping;
}

std::vector<int> range_of(std::size_t first, std::size_t end) {
  std::vector<int> range(end > first ? end - first : 0);
  std::iota(range.begin(), range.end(), static_cast<int>(first));
  return range;
}

/// A view that permutes and joins: the groups of the tensor's dimensions make up those named.
View joined_view(Problem& problem, const std::vector<std::string>& names, const Shape& shape,
                 const std::vector<std::vector<int>>& groups) {
  std::vector<Expression> extents(shape.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto own = joined_extents(problem, names[g], shape, groups[g]);
    for (std::size_t i = 0; i < own.size(); ++i) {
      extents[static_cast<std::size_t>(groups[g][i])] = own[i];
    }
  }
  return View::grouped(names, grouping_of(groups), extents);
}

}  // namespace

Combining reduction_of(const NodeView& node) {
  const std::string name = node.text("reduction", "none");
  const auto* found = std::ranges::find(kReductions, name);
  if (found == kReductions.end()) {
    node.fail("reduction '" + name + "' is unknown; expected none, add, mul, max or min");
  }
  return static_cast<Combining>(found - kReductions.begin());
}

void check_updates(const NodeView& node) {
  const DType data = node.input(0).dtype;
  const DType updates = node.input(2).dtype;
  if (data == updates) return;
  node.fail("the updates are " + std::string(name_of(updates)) + ", the data " +
            std::string(name_of(data)) + "; expected one type");
}

ReferenceTensor scattered(const NodeView& node, std::span<const ReferenceTensor> inputs,
                          const std::vector<std::int64_t>& places) {
  Combining reduction = reduction_of(node);
  const DType type = node.input(0).dtype;
  if (type == DType::boolean && reduction == Combining::add) reduction = Combining::largest;
  if (type == DType::boolean && reduction == Combining::mul) reduction = Combining::smallest;
  ReferenceTensor result = inputs[0];
  const ReferenceTensor& updates = inputs[2];
  for (std::size_t u = 0; u < updates.value.size(); ++u) {
    if (places[u] < 0) continue;
    const auto at = static_cast<std::size_t>(places[u]);
    const Bounded value = combined_into(reduction, type, {result.value[at], result.error[at]},
                                        {updates.value[u], updates.error[u]});
    result.value[at] = value.value;
    result.error[at] = value.error;
  }
  return result;
}

std::vector<Expression> joined_extents(Problem& problem, const std::string& letter,
                                       const Shape& shape, const std::vector<int>& dimensions) {
  std::vector<Expression> names;
  for (const int d : dimensions) {
    const std::string name = dimensions.size() == 1 ? letter : letter + std::to_string(d) + "_";
    problem.extents[name] = shape[static_cast<std::size_t>(d)];
    names.push_back(Expression::variable(name));
  }
  problem.extents[letter] = extent_of(shape, dimensions);
  return names;
}

BoundProblem scatter_problem(const NodeView& node, ScatterStructure structure,
                             const std::vector<std::int64_t>& indexed, std::size_t first,
                             std::vector<int> updated) {
  const Shape data = node.input(0).shape;
  const Shape updates = node.input(2).shape;
  const std::size_t behind = first + indexed.size();
  BoundProblem bound;
  Problem& problem = bound.problem;
  problem.family = families::scatter;
  problem.types["acc"] = node.input(0).dtype;
  if (node.input(0).dtype == DType::boolean) {
    if (structure.reduction == Combining::add) structure.reduction = Combining::largest;
    if (structure.reduction == Combining::mul) structure.reduction = Combining::smallest;
  }
  problem.structure = numbers_of(structure);
  for (std::size_t l = 0; l < 4; ++l) {
    problem.extents["I" + std::to_string(l)] = l < indexed.size() ? indexed[l] : 1;
  }
  const std::vector<std::vector<int>> whole{range_of(0, first), range_of(first, behind),
                                            range_of(behind, data.size())};
  const View view = joined_view(problem, {"O", "D", "I"}, data, whole);
  bound.operands["src"] = {node.input_id(0), view};
  bound.operands["dst"] = {node.output_id(), view};
  const auto last =
      static_cast<std::size_t>(updated.empty() ? static_cast<int>(first) : updated.back() + 1);
  const std::vector<std::vector<int>> parts{range_of(0, first), std::move(updated),
                                            range_of(last, updates.size())};
  bound.operands["update"] = {node.input_id(2),
                              joined_view(problem, {"O", "M", "I"}, updates, parts)};
  return bound;
}

TensorId zeros(GraphWriter& writer, DType type, const Shape& shape) {
  return writer.expanded(writer.scalar(type, 0.0), shape);
}

void gradient_of_scatter(Gradient& gradient, const ScatterNodes& nodes) {
  const NodeView& node = gradient.node();
  const Combining reduction = reduction_of(node);
  const auto gathered = [&](TensorId x) {
    return gradient.add(nodes.reader, {x, nodes.read_at}, nodes.reads);
  };
  const auto put = [&](TensorId x, TensorId y) {
    return gradient.add(nodes.writer, {x, node.input_id(1), y}, nodes.writes);
  };
  if (reduction != Combining::none && reduction != Combining::add) {
    node.unsupported("has a gradient only with reduction none or add");
  }
  const TensorId whole = gradient.of_output();
  const bool replaces = reduction == Combining::none;
  const Shape updates = node.input(2).shape;
  if (gradient.wants(0)) {
    gradient.give(0,
                  replaces ? put(whole, zeros(gradient, gradient.type_of(whole), updates)) : whole);
  }
  if (!gradient.wants(2)) return;
  TensorId own = gathered(whole);
  if (replaces) {
    // Of several updates of one element the last counts: that whose number is found there.
    const std::int64_t count = element_count(updates);
    Tensor numbers = Tensor::allocate(DType::i32, updates);
    for (std::int64_t i = 0; i < count; ++i) numbers.set(i, static_cast<double>(i));
    const TensorId number = gradient.constant(std::move(numbers));
    const TensorId found = gathered(put(zeros(gradient, DType::i32, node.input(0).shape), number));
    const TensorId counts = gradient.add("Equal", {found, number});
    own = gradient.add("Where", {counts, own, gradient.scalar(gradient.type_of(own), 0.0)});
  }
  gradient.give(2, own);
}

}  // namespace morton::ops
