// SPDX-License-Identifier: Apache-2.0
#include "run/shared_constants.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "base/shape.hpp"
#include "base/text/number_text.hpp"

namespace morton::run {
namespace {

/// What a view says with the values of the names that it uses; sizes of other things change with
/// the inputs' shapes.
std::string text_of(const Value& value) {
  if (!value.view) return "";
  std::set<std::string> used;
  for (const auto& coordinate : value.view->coordinates) used.merge(coordinate.variables());
  for (const auto& extent : value.view->extents) used.merge(extent.variables());
  std::string text = value.view->print() + exact_text(value.view->outside);
  for (const auto& [name, number] : value.view_names) {
    if (used.contains(name)) text += " " + name + "=" + std::to_string(number);
  }
  return text;
}

bool same_elements(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  return a.data() == b.data() || std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

/// Where a value's elements lie. Two square matrices of the same layout may lie in it one way and
/// the other: which dimension of the tensor is which of the operand's is part of it.
std::string place_of(const Value& value) {
  std::string text = print(value.arrangement) + " " + std::to_string(value.bytes) + " of " +
                     to_string(value.arrangement.tensor_shape);
  for (const auto& group : value.arrangement.grouping) {
    text += " |";
    for (const int dimension : group) text += " " + std::to_string(dimension);
  }
  return text;
}

bool same_constant(const Value& a, const Value& b) {
  return b.kind == Value::Kind::constant && place_of(a) == place_of(b) &&
         text_of(a) == text_of(b) && same_elements(a.data, b.data);
}

class Matcher {
 public:
  Matcher(const Plan& plan, const Plan& other)
      : plan_(plan), other_(other), same_(plan.values.size(), -1) {
    for (std::size_t v = 0; v < other.values.size(); ++v) {
      by_name_[other.values[v].name].push_back(static_cast<int>(v));
    }
  }

  std::vector<int> run() {
    for (std::size_t v = 0; v < same_.size(); ++v) {
      const Value& value = plan_.values[v];
      if (value.kind == Value::Kind::constant) same_[v] = find_constant(value);
    }
    for (const Step& step : plan_.load_steps) match(step);
    return std::move(same_);
  }

 private:
  int find_constant(const Value& value) const {
    const auto named = by_name_.find(value.name);
    if (named == by_name_.end()) return -1;
    const auto found = std::ranges::find_if(named->second, [&](int v) {
      return same_constant(value, other_.values[static_cast<std::size_t>(v)]);
    });
    return found == named->second.end() ? -1 : *found;
  }

  /// What a load step writes is the other's, where the other runs the same on the same.
  void match(const Step& step) {
    for (const Step& known : other_.load_steps) {
      if (!same_step(step, known)) continue;
      for (std::size_t i = 0; i < step.writes.size(); ++i) {
        same_[static_cast<std::size_t>(step.writes[i])] = known.writes[i];
      }
      return;
    }
  }

  bool same_step(const Step& a, const Step& b) const {
    if (a.name != b.name || a.instance < 0 || b.instance < 0) return false;
    const auto& one = plan_.instances[static_cast<std::size_t>(a.instance)];
    const auto& two = other_.instances[static_cast<std::size_t>(b.instance)];
    if (one.key != two.key || a.global != b.global || a.arguments.size() != b.arguments.size() ||
        a.writes.size() != b.writes.size()) {
      return false;
    }
    for (std::size_t i = 0; i < a.arguments.size(); ++i) {
      const StepArgument& x = a.arguments[i];
      const StepArgument& y = b.arguments[i];
      if (x.kind != y.kind || x.name != y.name) return false;
      if (x.kind == StepArgument::Kind::integer && x.number != y.number) return false;
    }
    const auto writes_alike = [&](std::size_t i) {
      return place_of(plan_.values[static_cast<std::size_t>(a.writes[i])]) ==
             place_of(other_.values[static_cast<std::size_t>(b.writes[i])]);
    };
    for (std::size_t i = 0; i < a.writes.size(); ++i) {
      if (!writes_alike(i)) return false;
    }
    return std::ranges::equal(
        a.reads, b.reads, [&](int x, int y) { return same_[static_cast<std::size_t>(x)] == y; });
  }

  const Plan& plan_;
  const Plan& other_;
  std::vector<int> same_;
  std::map<std::string, std::vector<int>> by_name_;
};

}  // namespace

std::vector<int> shared_constants(const Plan& plan, const Plan& other) {
  return Matcher(plan, other).run();
}

}  // namespace morton::run
