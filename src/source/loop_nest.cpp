// SPDX-License-Identifier: Apache-2.0
#include "source/loop_nest.hpp"

#include <algorithm>

#include "source/accessor.hpp"
#include "source/instance_writer.hpp"

namespace morton::source {
namespace {

/// A line is computed in blocks of so many elements, where it is not shorter.
constexpr std::int64_t kBlock = 64;
/// Lines up to this length are better taken side by side: there is little to do along one.
constexpr std::int64_t kShort = 4;

std::string counter(std::size_t loop) { return "nest" + std::to_string(loop); }

/// Of the `loop`-th of so many, as macros write it: the innermost one is their parameter.
std::string counter_text(std::size_t loop, std::size_t loops) {
  return loop + 1 == loops ? "(i)" : "(" + counter(loop) + ")";
}

}  // namespace

std::optional<LoopNest> LoopNest::of(const InstanceOperand& dst) {
  if (!dst.view.grouping || dst.arrangement.pitch != 0) return std::nullopt;
  return LoopNest(dst);
}

LoopNest::LoopNest(const InstanceOperand& dst) : dst_(&dst) {
  const std::vector<Expression> groups = count_loops();
  const bool is_own = *dst.view.grouping == dst.arrangement.grouping;
  if (is_own) {
    // The groups are the operand's own dimensions.
    coordinates_ = groups;
    for (std::size_t d = 0; d < groups.size(); ++d) {
      add_bound(groups[d], Expression(1), Expression::variable(dst.view.dimensions[d]));
    }
    return;
  }
  std::vector<Expression> tensor(dst.arrangement.tensor_shape.size());
  for (std::size_t g = 0; g < groups.size(); ++g) split(groups[g], g, tensor);
  for (const JoinedDimensions& members : *dst.view.grouping) {
    Expression joined(0);
    for (const int t : members) {
      joined = joined * tensor_extent_name(dst.name, static_cast<std::size_t>(t)) +
               tensor[static_cast<std::size_t>(t)];
    }
    coordinates_.push_back(joined);
  }
}

/// Of each group of the arrangement its coordinate in terms of the counters.
std::vector<Expression> LoopNest::count_loops() {
  const auto& loops = dst_->arrangement.layout.loops();
  std::vector<Expression> groups(dst_->arrangement.grouping.size(), Expression(0));
  // What a step of the next loop outside over a group adds to its coordinate.
  std::vector<std::int64_t> span(groups.size(), 1);
  extents_.resize(loops.size());
  for (std::size_t l = loops.size(); l-- > 0;) {
    const Loop& loop = loops[l];
    const auto g = static_cast<std::size_t>(loop.dimension);
    const std::string name = counter_text(l, loops.size());
    extents_[l] = loop.extent > 0 ? Expression(loop.extent)
                                  : padded_name(dst_->name, g) / Expression(span[g]);
    below_[name] = loop.extent;
    groups[g] = Expression::variable(name) * Expression(span[g]) + groups[g];
    if (loop.extent > 0) span[g] *= loop.extent;
  }
  return groups;
}

/// The coordinates of the tensor's dimensions that a group joins. The outermost carries what lies
/// beyond the tensor, so that its bound catches all padding.
void LoopNest::split(const Expression& whole, std::size_t group, std::vector<Expression>& tensor) {
  const JoinedDimensions& members = dst_->arrangement.grouping[group];
  if (members.empty()) add_bound(whole, Expression(1), Expression(1));
  Expression below(1);
  for (std::size_t i = members.size(); i-- > 0;) {
    const auto t = static_cast<std::size_t>(members[i]);
    const Expression extent = tensor_extent_name(dst_->name, t);
    tensor[t] = i > 0 ? whole / below % extent : whole / below;
    if (i == 0) add_bound(whole, below, extent);
    below = extent * below;
  }
}

/// whole / below is less than `end`. Along a line `whole` grows by one from element to element, so
/// what lies in dst comes first.
void LoopNest::add_bound(const Expression& whole, const Expression& below, const Expression& end) {
  if (whole.variables().contains("(i)")) {
    data_ = end * below - whole.substitute({{"(i)", Expression(0)}});
  } else {
    bounds_.emplace_back(whole / below, end);
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
  std::set<std::string> names;
  for (const auto& [coordinate, end] : bounds_) {
    names.merge(sizes_in(coordinate));
    names.merge(end.variables());
  }
  names.merge(sizes_in(data_));
  for (const auto& extent : extents_) names.merge(extent.variables());
  return names;
}

/// NEST_EACH_UNIT(line, first, end): loops around a statement that goes through the lines up to
/// nest_end; they declare the counters of the loops outside of those that count lines.
std::string LoopNest::each_unit() const {
  const std::size_t loops = extents_.size();
  const std::string lines = "(" + extent_from_inside(1).to_opencl() + ")";
  std::string counters;
  Expression below(1);
  for (std::size_t l = loops < 2 ? 0 : loops - 2; l-- > 0;) {
    Expression value = Expression::variable("nest_unit") / below;
    if (l > 0) value = value % extents_[l];
    counters += ", " + counter(l) + " = " + value.to_opencl();
    below = extents_[l] * below;
  }
  return "for (int line = (first); line < (end);) for (int nest_unit = line / " + lines + counters +
         ", nest_end = min((nest_unit + 1) * " + lines + ", (end)); line < nest_end;)";
}

/// NEST_AT_LINE(line): a loop around a statement, which declares the counter of lines.
std::string LoopNest::at_line() const {
  const std::size_t loops = extents_.size();
  const std::string lines = "(" + extent_from_inside(1).to_opencl() + ")";
  const std::string last =
      loops < 2 ? "" : counter(loops - 2) + " = (line) - nest_unit * " + lines + ", ";
  return "for (int " + last + "nest_once = 1; nest_once; nest_once = 0)";
}

std::vector<MacroText> LoopNest::macros() const {
  // No variable: a scalar.
  const bool is_line = !data_.variables().empty();
  std::string data = is_line ? "clamp(" + data_.to_opencl() + ", 0, NEST_LENGTH)" : "1";
  std::string inside;
  for (const auto& [coordinate, end] : bounds_) {
    inside += (inside.empty() ? "" : " && ") + coordinate.to_opencl() + " < " + end.to_opencl();
  }
  const Expression length = extent_from_inside(0);
  std::int64_t fixed = kBlock;
  const bool is_fixed = length.is_constant(&fixed);
  Expression lines(1);
  for (std::size_t l = 0; l + 1 < extents_.size(); ++l) lines = lines * extents_[l];
  return {{"NEST_LINES", "", "(" + lines.to_opencl() + ")"},
          {"NEST_LENGTH", "", "(" + length.to_opencl() + ")"},
          {"NEST_BLOCK", "", std::to_string(is_fixed ? std::min(fixed, kBlock) : kBlock)},
          {"NEST_SHORT", "", is_fixed && fixed <= kShort && extents_.size() > 1 ? "1" : "0"},
          {"NEST_EACH_UNIT", "(line, first, end)", each_unit()},
          {"NEST_AT_LINE", "(line)", at_line()},
          {"NEST_EACH_LINE", "(line, first, end)",
           "NEST_EACH_UNIT(line, first, end) for (; line < nest_end; ++line) NEST_AT_LINE(line)"},
          {"NEST_DATA", "", inside.empty() ? data : "(" + inside + " ? " + data + " : 0)"}};
}

void InstanceWriter::define_nest(const InstanceOperand& dst) {
  if (spec_.problem.family == families::gather) return define_nest_of_gather(dst);
  const bool packs = spec_.problem.family == families::pack;
  const InstanceOperand& source = *find(packs ? "src" : "src0");
  const auto nest = source.view.bounded ? std::nullopt : LoopNest::of(dst);
  Expression place;
  if (nest) place = nest->reduced(index_of(source, nest->coordinates()).index);
  // A copy whose places along a line take divisions is better off with tables.
  const bool walks = nest && (!packs || place.is_linear_in("(i)"));
  define("NEST_dst", "", walks ? "1" : "0");
  if (!walks) return;
  sizes_.merge(nest->sizes());
  for (const auto& macro : nest->macros()) define(macro.name, macro.parameters, macro.body);
  const auto load = [&](const InstanceOperand& operand, const Expression& reduced) {
    sizes_.merge(nest->sizes_in(reduced));
    return load_text(operand.arrangement.dtype, operand.name, reduced.to_opencl());
  };
  define("NEST_LOAD_" + source.name, "(i)", load(source, place));
  if (packs) define("NEST_PLACE_src", "(i)", "(" + place.to_opencl() + ")");
  if (spec_.problem.epilogue.is_identity()) return define("NEST_EPILOGUE", "(v, i)", "(v)");
  std::string call = epilogue_name() + "((v)";
  for (const auto& side : spec_.sides) {
    const SideIndex index = index_of_side(side, dst.view, nest->coordinates());
    call += ", " + load(side, nest->reduced(index.start + index.within));
  }
  define("NEST_EPILOGUE", "(v, i)", call + ")");
}

/// The walk of a gather along dst. In its macros `l` is the position in a tuple of indices, `found`
/// the place that the tuple names. Neither is a counter of the nest.
void InstanceWriter::define_nest_of_gather(const InstanceOperand& dst) {
  const InstanceOperand& source = *find("src");
  const InstanceOperand& index = *find("index");
  const bool is_open = source.view.bounded || index.view.bounded;
  const auto nest = is_open ? std::nullopt : LoopNest::of(dst);
  define("NEST_dst", "", nest ? "1" : "0");
  if (!nest) return;
  sizes_.merge(nest->sizes());
  for (const auto& macro : nest->macros()) define(macro.name, macro.parameters, macro.body);
  const auto load = [&](const InstanceOperand& operand, const std::string& further) {
    std::vector<Expression> at = nest->coordinates();
    at.push_back(Expression::variable("(" + further + ")"));
    const Expression place = nest->reduced(index_of(operand, at).index);
    sizes_.merge(sizes_in(place));
    define("NEST_LOAD_" + operand.name, "(" + further + ", i)",
           load_text(operand.arrangement.dtype, operand.name, place.to_opencl()));
    return place;
  };
  load(source, "found");
  const Expression place = load(index, "l");
  define("NEST_SHARED", "", place.variables().contains("(i)") ? "0" : "1");
}

/// The walk of a copy along src, whose lines go to places in dst.
void InstanceWriter::define_nest_of_part(const InstanceOperand& dst) {
  const InstanceOperand& source = *find("src");
  define_moves(dst);
  const bool is_open = source.view.bounded || dst.view.bounded || source.view.coordinates.empty();
  const auto nest = is_open ? std::nullopt : LoopNest::of(source);
  Expression place;
  if (nest) place = nest->reduced(index_of(dst, nest->coordinates()).index);
  const bool walks = nest && place.is_linear_in("(i)");
  define("NEST_src", "", walks ? "1" : "0");
  if (!walks) return;
  sizes_.merge(nest->sizes());
  sizes_.merge(nest->sizes_in(place));
  for (const auto& macro : nest->macros()) define(macro.name, macro.parameters, macro.body);
  define("NEST_PLACE_dst", "(i)", "(" + place.to_opencl() + ")");
}

}  // namespace morton::source
