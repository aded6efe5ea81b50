// SPDX-License-Identifier: Apache-2.0
#include "source/loop_nest.hpp"

#include <algorithm>

#include "source/accessor.hpp"

namespace morton::source {
namespace {

/// A line is computed in blocks of so many elements, where it is not shorter.
constexpr std::int64_t kBlock = 64;

std::string counter(std::size_t loop) { return "nest" + std::to_string(loop); }

/// Of the `loop`-th of so many, as macros write it: the innermost one is their parameter.
std::string counter_text(std::size_t loop, std::size_t loops) {
  return loop + 1 == loops ? "(i)" : "(" + counter(loop) + ")";
}

}  // namespace

std::optional<LoopNest> LoopNest::of(const InstanceOperand& dst) {
  const bool is_own = dst.view.grouping && *dst.view.grouping == dst.arrangement.grouping;
  if (!is_own || dst.arrangement.pitch != 0) return std::nullopt;
  return LoopNest(dst);
}

LoopNest::LoopNest(const InstanceOperand& dst) : dst_(&dst) {
  const auto& loops = dst.arrangement.layout.loops();
  coordinates_.assign(dst.view.dimensions.size(), Expression(0));
  // What a step of the next loop outside over a dimension adds to its coordinate.
  std::vector<std::int64_t> span(coordinates_.size(), 1);
  extents_.resize(loops.size());
  for (std::size_t l = loops.size(); l-- > 0;) {
    const Loop& loop = loops[l];
    const auto d = static_cast<std::size_t>(loop.dimension);
    const std::string name = counter_text(l, loops.size());
    extents_[l] =
        loop.extent > 0 ? Expression(loop.extent) : padded_name(dst.name, d) / Expression(span[d]);
    below_[name] = loop.extent;
    coordinates_[d] = Expression::variable(name) * Expression(span[d]) + coordinates_[d];
    if (loop.extent > 0) span[d] *= loop.extent;
  }
}

Expression LoopNest::extent_from_inside(std::size_t back) const {
  return back < extents_.size() ? extents_[extents_.size() - 1 - back] : Expression(1);
}

std::set<std::string> LoopNest::sizes_in(const Expression& expression) const {
  std::set<std::string> names;
  for (const auto& name : expression.variables()) {
    if (!below_.contains(name)) names.insert(name);
  }
  return names;
}

std::set<std::string> LoopNest::sizes() const {
  std::set<std::string> names(dst_->view.dimensions.begin(), dst_->view.dimensions.end());
  for (const auto& extent : extents_) names.merge(extent.variables());
  return names;
}

std::vector<MacroText> LoopNest::macros() const {
  const std::size_t loops = extents_.size();
  std::string unit;
  Expression below(1);
  for (std::size_t l = loops < 2 ? 0 : loops - 2; l-- > 0;) {
    Expression value = Expression::variable("(unit)") / below;
    if (l > 0) value = value % extents_[l];
    unit += " const int " + counter(l) + " = " + value.to_opencl() + ";";
    below = extents_[l] * below;
  }
  std::string inside;
  for (std::size_t d = 0; d < coordinates_.size(); ++d) {
    inside +=
        (d > 0 ? " && " : "") + coordinates_[d].to_opencl() + " < " + dst_->view.dimensions[d];
  }
  const Expression length = extent_from_inside(0);
  std::int64_t fixed = kBlock;
  const bool is_fixed = length.is_constant(&fixed);
  return {
      {"NEST_LINES", "", "(" + extent_from_inside(1).to_opencl() + ")"},
      {"NEST_LENGTH", "", "(" + length.to_opencl() + ")"},
      {"NEST_BLOCK", "", std::to_string(is_fixed ? std::min(fixed, kBlock) : kBlock)},
      {"NEST_UNIT", "(unit)", unit},
      {"NEST_LINE", "(line)", loops < 2 ? "" : "const int " + counter(loops - 2) + " = (line);"},
      {"NEST_INSIDE", "(i)", inside.empty() ? "1" : "(" + inside + ")"}};
}

}  // namespace morton::source
