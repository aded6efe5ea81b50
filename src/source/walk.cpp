// SPDX-License-Identifier: Apache-2.0
#include "source/walk.hpp"

#include <algorithm>

#include "base/algebra/expression_node.hpp"
#include "source/accessor.hpp"

namespace morton::source {
namespace {

std::string counter(std::size_t loop) { return "loop" + std::to_string(loop); }

}  // namespace

std::optional<Walk> Walk::of(const InstanceOperand& dst) {
  const auto& arrangement = dst.arrangement;
  const auto& loops = arrangement.layout.loops();
  const bool has_tiles = std::ranges::any_of(loops, [](const Loop& l) { return l.extent != 0; });
  if (!dst.view.grouping || dst.view.bounded || arrangement.pitch != 0 || has_tiles) {
    return std::nullopt;
  }
  Walk walk;
  const bool is_own = *dst.view.grouping == arrangement.grouping;
  std::vector<Expression> tensor(arrangement.tensor_shape.size());
  if (is_own) walk.coordinates_.resize(arrangement.grouping.size());
  for (std::size_t l = 0; l < loops.size(); ++l) {
    const auto group = static_cast<std::size_t>(loops[l].dimension);
    const Expression padded = padded_name(dst.name, group);
    walk.sizes_.merge(padded.variables());
    walk.loops_.push_back({padded.to_opencl(), Expression(1), {Monomial{}}, {}});
    walk.counters_.emplace(counter(l), static_cast<int>(l));
    if (is_own) {
      walk.coordinates_[group] = Expression::variable(counter(l));
      walk.loops_[l].inside = Expression::variable(dst.view.dimensions[group]);
    } else {
      walk.split(dst, group, l, tensor);
    }
    walk.sizes_.merge(walk.loops_[l].inside.variables());
  }
  walk.own_ = loops.size();
  // Along a dimension of one element nothing lies.
  for (std::size_t l = 0; l < loops.size(); ++l) {
    const auto group = static_cast<std::size_t>(loops[l].dimension);
    if (arrangement.padded[group] != 1) walk.inner_ = l;
  }
  if (is_own) return walk;
  for (const JoinedDimensions& members : *dst.view.grouping) {
    Expression joined(0);
    for (const int t : members) {
      const auto at = static_cast<std::size_t>(t);
      joined = joined * tensor_extent_name(dst.name, at) + tensor[at];
    }
    walk.coordinates_.push_back(joined);
  }
  return walk;
}

/// The coordinates of the tensor's dimensions that a loop's group joins.
void Walk::split(const InstanceOperand& dst, std::size_t group, std::size_t loop,
                 std::vector<Expression>& tensor) {
  const JoinedDimensions& members = dst.arrangement.grouping[group];
  Expression below(1);
  for (std::size_t i = members.size(); i-- > 0;) {
    const auto t = static_cast<std::size_t>(members[i]);
    const Expression extent = tensor_extent_name(dst.name, t);
    tensor[t] = Expression::variable(counter(loop)) / below;
    if (i > 0) tensor[t] = tensor[t] % extent;
    below = extent * below;
  }
  loops_[loop].inside = below;
}

bool Walk::is_free(const Expression& expression) const {
  const auto names = expression.variables();
  return std::ranges::none_of(names, [&](const auto& name) { return counters_.contains(name); });
}

/// The quotient of `whole` by `by`, or the rest.
std::optional<Walk::Sum> Walk::part_of(const Expression& whole, const Monomial& by, bool rest) {
  auto sum = sum_of(whole);
  if (!sum || by.number <= 0) return std::nullopt;
  if (sum->empty()) return sum;
  if (sum->size() > 1) sum = counted(std::move(*sum));
  if (sum->size() != 1 || sum->front().loop < 0 || !(sum->front().factor == Monomial{})) {
    return std::nullopt;
  }
  Term& term = sum->front();
  const Monomial at = term.low.times(by);
  if (term.high && !term.high->over(at)) return std::nullopt;
  (rest ? term.high.emplace() : term.low) = at;
  return sum;
}

/// A sum of counters as a counter of its own, where it is one.
Walk::Sum Walk::counted(Sum sum) {
  const bool counts = std::ranges::all_of(sum, [&](const Term& term) {
    const bool is_whole = term.low == Monomial{} && !term.high;
    return term.loop >= 0 && static_cast<std::size_t>(term.loop) < own_ && is_whole &&
           term.factor.number > 0;
  });
  if (!counts) return sum;
  const auto found = std::ranges::find(loops_, sum, &WalkLoop::value);
  const auto at = static_cast<int>(found - loops_.begin());
  if (found == loops_.end()) loops_.push_back({"", Expression(1), {Monomial{}}, std::move(sum)});
  return {{Monomial{}, at, {}, std::nullopt}};
}

std::optional<Walk::Sum> Walk::sum_of(const Expression& expression) {
  using Op = ExpressionOp;
  if (is_free(expression)) {
    sizes_.merge(expression.variables());
    if (expression == Expression(0)) return Sum{};
    return Sum{{Monomial::of(expression), -1, {}, std::nullopt}};
  }
  const auto& node = expression.root();
  if (node.op == Op::variable) {
    return Sum{{Monomial{}, counters_.at(node.name), {}, std::nullopt}};
  }
  const Expression a = Expression::of_node(node.a);
  const Expression b = is_unary(node.op) ? Expression() : Expression::of_node(node.b);
  if (node.op == Op::divide || node.op == Op::remainder) {
    if (!is_free(b)) return std::nullopt;
    sizes_.merge(b.variables());
    return part_of(a, Monomial::of(b), node.op == Op::remainder);
  }
  if (node.op == Op::multiply) {
    if (!is_free(a) && !is_free(b)) return std::nullopt;
    const Expression& free = is_free(a) ? a : b;
    sizes_.merge(free.variables());
    auto sum = sum_of(is_free(a) ? b : a);
    if (!sum) return std::nullopt;
    for (Term& term : *sum) term.factor = term.factor.times(Monomial::of(free));
    return sum;
  }
  if (node.op != Op::add && node.op != Op::subtract) return std::nullopt;
  auto left = sum_of(a);
  auto right = sum_of(b);
  if (!left || !right) return std::nullopt;
  for (Term& term : *right) {
    if (node.op == Op::subtract) term.factor.number = -term.factor.number;
    left->push_back(term);
  }
  return recombined(std::move(*left));
}

/// x / OW * OW + x % OW is x.
Walk::Sum Walk::recombined(Sum sum) {
  const auto continues = [](const Term& upper, const Term& lower) {
    if (upper.loop < 0 || upper.loop != lower.loop || !lower.high) return false;
    if (!(*lower.high == upper.low)) return false;
    const auto step = upper.low.over(lower.low);
    return step && upper.factor == lower.factor.times(*step);
  };
  for (std::size_t i = 0; i < sum.size(); ++i) {
    for (std::size_t j = 0; j < sum.size(); ++j) {
      if (i == j || !continues(sum[i], sum[j])) continue;
      sum[j].high = sum[i].high;
      sum.erase(sum.begin() + static_cast<std::ptrdiff_t>(i));
      return recombined(std::move(sum));
    }
  }
  return sum;
}

bool Walk::take(const Expression& position) {
  auto sum = sum_of(position);
  if (!sum) return false;
  positions_.push_back(std::move(*sum));
  return true;
}

/// Makes a digit begin there. False where that cuts through one.
bool Walk::cut(WalkLoop& loop, const Monomial& at) {
  std::size_t place = 0;
  while (place < loop.cuts.size() && at.over(loop.cuts[place])) ++place;
  if (loop.cuts[place - 1] == at) return true;
  const bool fits = place == loop.cuts.size() || loop.cuts[place].over(at);
  loop.cuts.insert(loop.cuts.begin() + static_cast<std::ptrdiff_t>(place), at);
  return fits;
}

bool Walk::finish() {
  for (const Sum& sum : positions_) {
    for (const Term& term : sum) {
      if (term.loop < 0) continue;
      WalkLoop& loop = loops_[static_cast<std::size_t>(term.loop)];
      if (!cut(loop, term.low) || (term.high && !cut(loop, *term.high))) return false;
    }
  }
  return true;
}

}  // namespace morton::source
