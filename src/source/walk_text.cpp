// SPDX-License-Identifier: Apache-2.0
//
// The text of a walk through dst's memory.
#include <algorithm>

#include "source/accessor.hpp"
#include "source/epilogue.hpp"
#include "source/instance_writer.hpp"
#include "source/loop_nest.hpp"
#include "source/walk.hpp"

namespace morton::source {
namespace {

/// The extents of `operand`'s tensor by the names of dst's, where its coordinate is one of dst's.
std::map<std::string, Expression> names_in_dst(const InstanceOperand& operand,
                                               const std::vector<Expression>& own,
                                               const std::vector<Expression>& of_dst) {
  std::map<std::string, Expression> names;
  for (std::size_t t = 0; t < own.size(); ++t) {
    for (std::size_t d = 0; d < of_dst.size(); ++d) {
      if (!(own[t] == of_dst[d])) continue;
      names.emplace(tensor_extent_name(operand.name, t).print(), tensor_extent_name("dst", d));
    }
  }
  return names;
}

}  // namespace

std::string Walk::digit(std::size_t loop, std::size_t k, const std::string& of) const {
  const std::string whole = of + std::to_string(loop);
  return loops_[loop].cuts.size() == 1 ? whole : whole + "_" + std::to_string(k);
}

std::string Walk::text_of(std::size_t i) const {
  std::string text;
  for (const Term& term : positions_[i]) {
    std::string value;
    if (term.loop >= 0) {
      const auto loop = static_cast<std::size_t>(term.loop);
      const auto& cuts = loops_[loop].cuts;
      const bool is_whole = term.low == Monomial{} && !term.high;
      if (is_whole) value = "walk" + std::to_string(loop);
      for (std::size_t k = 0; k < cuts.size() && !is_whole; ++k) {
        const auto weight = cuts[k].over(term.low);
        const bool is_above = term.high && cuts[k].over(*term.high);
        if (!weight || is_above) continue;
        value += (value.empty() ? "" : " + ") + weight->text() + " * " + digit(loop, k, "walk");
      }
      value = " * (" + value + ")";
    }
    text += (text.empty() ? "" : " + ") + term.factor.text() + value;
  }
  return text.empty() ? "0" : "(" + text + ")";
}

/// Assignments of the digits of a loop from its counter.
std::string Walk::digits_of(std::size_t loop, const std::string& of) const {
  const auto& cuts = loops_[loop].cuts;
  if (cuts.size() == 1) return "";
  std::string text = " walk_rest = " + of + std::to_string(loop) + ";";
  for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
    const std::string radix = "(uint)(" + cuts[k + 1].over(cuts[k])->text() + ")";
    text += " " + digit(loop, k, of) + " = walk_rest % " + radix + "; walk_rest /= " + radix + ";";
  }
  return text + " " + digit(loop, cuts.size() - 1, of) + " = walk_rest;";
}

std::string Walk::start(const std::string& e, const std::string& of) const {
  std::string text = "{ uint walk_outer = " + e + "; uint walk_rest = 0; (void)walk_rest;";
  for (std::size_t l = own_; l-- > 0;) {
    const std::string whole = of + std::to_string(l);
    const std::string padded = "(uint)" + loops_[l].padded;
    text += " " + whole + " = walk_outer" + (l > 0 ? " % " + padded : "") + ";";
    if (l > 0) text += " walk_outer /= " + padded + ";";
    text += digits_of(l, of);
  }
  for (std::size_t l = own_; l < loops_.size(); ++l) text += " " + counter_of(l, of);
  return text + " }";
}

/// Assignments of a sum of counters, and its digits.
std::string Walk::counter_of(std::size_t loop, const std::string& of) const {
  std::string sum;
  for (const Term& term : loops_[loop].value) {
    sum += (sum.empty() ? "" : " + ") + term.factor.text() + " * " + of + std::to_string(term.loop);
  }
  return of + std::to_string(loop) + " = " + (sum.empty() ? "0" : sum) + ";" + digits_of(loop, of);
}

std::string Walk::step() const {
  std::string text =
      "{ int walk_carry = 0; int walk_left = 0; (void)walk_left; uint walk_rest = 0; "
      "(void)walk_rest;";
  const auto add = [&](const std::string& name, const std::string& step) {
    text += " " + name + " += " + step + " + walk_carry;";
  };
  const auto carry = [&](const std::string& name, const std::string& end) {
    text +=
        " walk_carry = " + name + " >= " + end + "; " + name + " -= walk_carry ? " + end + " : 0;";
  };
  const auto add_digits = [&](std::size_t l) {
    const auto& cuts = loops_[l].cuts;
    for (std::size_t k = 0; k < cuts.size() && cuts.size() > 1; ++k) {
      add(digit(l, k, "walk"), digit(l, k, "step"));
      if (k + 1 == cuts.size()) continue;
      carry(digit(l, k, "walk"), "(" + cuts[k + 1].over(cuts[k])->text() + ")");
    }
  };
  for (std::size_t l = own_; l-- > 0;) {
    const std::string at = std::to_string(l);
    add("walk" + at, "step" + at);
    add_digits(l);
    if (l == 0) continue;
    carry("walk" + at, loops_[l].padded);
    // What the counter has less at the end of its loop is no step of digits.
    if (loops_[l].cuts.size() > 1) text += " if (walk_carry) {" + digits_of(l, "walk") + " }";
    text += " walk_left |= walk_carry;";
  }
  for (std::size_t l = own_; l < loops_.size(); ++l) {
    text += " if (walk_left) { " + counter_of(l, "walk") + " } else { walk_carry = 0;";
    add("walk" + std::to_string(l), "step" + std::to_string(l));
    add_digits(l);
    text += " }";
  }
  return text + " }";
}

bool Walk::has_lines() const {
  return own_ > 0 && std::all_of(loops_.begin() + static_cast<std::ptrdiff_t>(own_), loops_.end(),
                                 [&](const WalkLoop& loop) {
                                   return std::ranges::all_of(loop.value, [&](const Term& term) {
                                     const bool is_inner =
                                         static_cast<std::size_t>(term.loop) == inner_;
                                     return !is_inner || term.factor == Monomial{};
                                   });
                                 });
}

std::string Walk::declared(const std::string& of) const {
  std::string text;
  for (std::size_t l = 0; l < loops_.size(); ++l) {
    const std::size_t count = loops_[l].cuts.size();
    text += " int " + of + std::to_string(l) + " = 0;";
    for (std::size_t k = 0; k < count && count > 1; ++k) {
      text += " int " + digit(l, k, of) + " = 0;";
    }
  }
  return text;
}

std::string Walk::inside() const {
  std::string text;
  for (std::size_t l = 0; l < own_; ++l) {
    text += (text.empty() ? "" : " && ") + ("walk" + std::to_string(l)) + " < " +
            loops_[l].inside.to_opencl();
  }
  return text.empty() ? "1" : "(" + text + ")";
}

std::vector<MacroText> Walk::lines() const {
  const std::string inner = std::to_string(inner_);
  std::string start = "{ uint walk_outer = (line); uint walk_rest = 0; (void)walk_rest;";
  for (std::size_t l = own_; l-- > 0;) {
    const std::string whole = "walk" + std::to_string(l);
    const std::string padded = "(uint)" + loops_[l].padded;
    const std::string of_line =
        l > 0 ? "walk_outer % " + padded + "; walk_outer /= " + padded + ";" : "walk_outer;";
    start += " " + whole + " = " + (l == inner_ ? "(column);" : of_line) + digits_of(l, "walk");
  }
  for (std::size_t l = own_; l < loops_.size(); ++l) start += " " + counter_of(l, "walk");
  std::string next = "{ int walk_carry = 0; (void)walk_carry; ++walk" + inner + ";";
  const auto count = [&](std::size_t l) {
    const auto& cuts = loops_[l].cuts;
    if (cuts.size() == 1) return;
    next += " walk_carry = 1;";
    for (std::size_t k = 0; k < cuts.size(); ++k) {
      const std::string name = digit(l, k, "walk");
      next += " " + name + " += walk_carry;";
      if (k + 1 == cuts.size()) continue;
      next += " walk_carry = " + name + " >= (" + cuts[k + 1].over(cuts[k])->text() + "); " + name +
              " = walk_carry ? 0 : " + name + ";";
    }
  };
  count(inner_);
  for (std::size_t l = own_; l < loops_.size(); ++l) {
    const bool moves = std::ranges::any_of(loops_[l].value, [&](const Term& term) {
      return static_cast<std::size_t>(term.loop) == inner_;
    });
    if (!moves) continue;
    next += " ++walk" + std::to_string(l) + ";";
    count(l);
  }
  return {{"WALK_LENGTH", "", loops_[inner_].padded},
          {"WALK_DECLARE", "", declared("walk")},
          {"WALK_START", "(line, column)", start + " }"},
          {"WALK_NEXT", "", next + " }"},
          {"WALK_INSIDE", "", inside()}};
}

std::vector<MacroText> Walk::macros() const {
  const std::string declare = declared("walk") + declared("step");
  return {{"WALK_DECLARE", "(step)", declare + " " + start("(step)", "step")},
          {"WALK_START", "(e)", start("(e)", "walk")},
          {"WALK_STEP", "", step()},
          {"WALK_INSIDE", "", inside()}};
}

/// Whether places along a line of dst's memory are sums: no walk is shorter then.
bool InstanceWriter::has_lines(const InstanceOperand& dst) const {
  const auto nest = LoopNest::of(dst);
  if (!nest) return false;
  const auto is_sum = [&](const Expression& place) {
    return nest->reduced(place).is_linear_in("(i)");
  };
  return is_sum(index_of(*find("src0"), nest->coordinates()).index) &&
         std::ranges::all_of(spec_.sides, [&](const InstanceOperand& side) {
           const SideIndex index = index_of_side(side, dst.view, nest->coordinates());
           return is_sum(index.start + index.within);
         });
}

bool InstanceWriter::define_walk(const InstanceOperand& dst) {
  if (spec_.problem.family == families::pack) return define_walk_of_pack(dst);
  const InstanceOperand& source = *find("src0");
  const bool is_short = lies_alike() || source.view.bounded || has_lines(dst);
  auto walk = is_short ? std::nullopt : Walk::of(dst);
  const auto take = [&](const InstanceOperand& operand, const Expression& place,
                        const std::vector<Expression>& of_dst) {
    return walk->take(place.substitute(names_in_dst(operand, operand.view.coordinates, of_dst)));
  };
  bool walks =
      walk && take(source, index_of(source, walk->coordinates()).index, dst.view.coordinates);
  std::vector<Expression> places;
  for (std::size_t t = 0; t < dst.view.coordinates.size(); ++t) {
    places.push_back(Expression::variable("t" + std::to_string(t)));
  }
  for (std::size_t s = 0; s < spec_.sides.size() && walks; ++s) {
    const SideIndex index = index_of_side(spec_.sides[s], dst.view, walk->coordinates());
    walks = take(spec_.sides[s], index.start + index.within, places);
  }
  walks = walks && walk->finish();
  define("WALK_dst", "", walks ? "1" : "0");
  if (!walks) return false;
  sizes_.insert(walk->sizes().begin(), walk->sizes().end());
  for (const auto& macro : walk->macros()) define(macro.name, macro.parameters, macro.body);
  define("WALK_LOAD_src0", "", load_at(source, source.name, walk->text_of(0)));
  if (spec_.problem.epilogue.is_identity()) {
    define("WALK_EPILOGUE", "(v)", "(v)");
    return true;
  }
  std::string call = epilogue_name() + "((v)";
  for (std::size_t s = 0; s < spec_.sides.size(); ++s) {
    call += ", " + load_at(spec_.sides[s], spec_.sides[s].name, walk->text_of(s + 1));
  }
  define("WALK_EPILOGUE", "(v)", call + ")");
  return true;
}

/// Of a source that is read beyond its ends the coordinates too.
bool InstanceWriter::define_walk_of_pack(const InstanceOperand& dst) {
  const InstanceOperand& source = *find("src");
  auto walk = Walk::of(dst);
  bool walks = walk.has_value();
  if (walks) {
    const IndexText text = index_of(source, walk->coordinates());
    walks = walk->take(text.index);
    for (const auto& coordinate : text.tensor_coordinates) walks = walks && walk->take(coordinate);
    walks = walks && walk->finish() && walk->has_lines();
  }
  define("WALK_dst", "", walks ? "1" : "0");
  if (!walks) return false;
  sizes_.insert(walk->sizes().begin(), walk->sizes().end());
  for (const auto& macro : walk->lines()) define(macro.name, macro.parameters, macro.body);
  define("WALK_PLACE_src", "", walk->text_of(0));
  std::string inside;
  for (std::size_t t = 0; source.view.bounded && t < source.view.coordinates.size(); ++t) {
    const Expression extent = tensor_extent_name(source.name, t);
    sizes_.merge(extent.variables());
    // One unsigned comparison checks both ends.
    inside += (t > 0 ? " && " : "") + ("(uint)" + walk->text_of(t + 1)) + " < (uint)" +
              extent.to_opencl();
  }
  define("WALK_FOUND_src", "", inside.empty() ? "1" : "(" + inside + ")");
  define("WALK_OUTSIDE_src", "",
         literal_of(source.arrangement.dtype, source.view.bounded ? source.view.outside : 0.0));
  return true;
}

}  // namespace morton::source
