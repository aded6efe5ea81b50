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
  return a.stored() == b.stored() || std::memcmp(a.stored(), b.stored(), a.bytes()) == 0;
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

/// The same integer, or any value, under the same name.
bool pass_alike(const StepArgument& a, const StepArgument& b) {
  if (a.name != b.name || a.passed.index() != b.passed.index()) return false;
  return a.value() != nullptr || *a.integer() == *b.integer();
}

class Matcher {
 public:
  Matcher(const Plan& plan, const Plan& other)
      : plan_(plan), other_(other), same_(plan.values.size()) {
    for (const ValueId v : other.values.ids()) {
      by_name_[other.values[v].name].push_back(v);
    }
  }

  Indexed<ValueId, ValueId> run() {
    for (const ValueId v : same_.ids()) {
      const Value& value = plan_.values[v];
      if (value.kind == Value::Kind::constant) same_[v] = find_constant(value);
    }
    for (const Step& step : plan_.load_steps) match(step);
    return std::move(same_);
  }

 private:
  ValueId find_constant(const Value& value) const {
    const auto named = by_name_.find(value.name);
    if (named == by_name_.end()) return {};
    const auto found = std::ranges::find_if(
        named->second, [&](ValueId v) { return same_constant(value, other_.values[v]); });
    return found == named->second.end() ? ValueId() : *found;
  }

  /// What a load step writes is the other's, where the other runs the same on the same.
  void match(const Step& step) {
    for (const Step& known : other_.load_steps) {
      if (!same_step(step, known)) continue;
      for (std::size_t i = 0; i < step.writes.size(); ++i) {
        same_[step.writes[i]] = known.writes[i];
      }
      return;
    }
  }

  bool same_step(const Step& a, const Step& b) const {
    const KernelLaunch* one = a.launch();
    const KernelLaunch* two = b.launch();
    if (a.name != b.name || one == nullptr || two == nullptr) return false;
    if (plan_.instances[one->instance].key != other_.instances[two->instance].key ||
        one->global != two->global) {
      return false;
    }
    const auto writes_alike = [&](ValueId x, ValueId y) {
      return place_of(plan_.values[x]) == place_of(other_.values[y]);
    };
    return std::ranges::equal(a.arguments, b.arguments, pass_alike) &&
           std::ranges::equal(a.writes, b.writes, writes_alike) &&
           std::ranges::equal(a.reads, b.reads,
                              [&](ValueId x, ValueId y) { return same_[x] == y; });
  }

  const Plan& plan_;
  const Plan& other_;
  Indexed<ValueId, ValueId> same_;  ///< of plan_ to other_; none where nothing is the same
  std::map<std::string, std::vector<ValueId>> by_name_;
};

}  // namespace

Indexed<ValueId, ValueId> shared_constants(const Plan& plan, const Plan& other) {
  return Matcher(plan, other).run();
}

}  // namespace morton::run
