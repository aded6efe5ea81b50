// SPDX-License-Identifier: Apache-2.0
#include "plan/kernel/asked_problem.hpp"

#include <utility>

namespace morton::plan {

std::size_t NameNumbers::of(std::string_view name) {
  if (const auto known = find(name)) return *known;
  return numbers_.emplace(name, numbers_.size()).first->second;
}

std::optional<std::size_t> NameNumbers::find(std::string_view name) const {
  const auto known = numbers_.find(name);
  if (known == numbers_.end()) return std::nullopt;
  return known->second;
}

void AskedProblem::ask(SharedProblem bound) {
  bound_ = std::move(bound);
  values_.clear();
  tuned_.reset();
}

void AskedProblem::number(const NameNumbers& names) {
  if (values_.size() == names.size()) return;
  values_.assign(names.size(), {});
  const auto fill = [&](const Environment& values, Value::Kind kind) {
    for (const auto& [name, value] : values) {
      if (const auto number = names.find(name)) values_[*number] = {kind, value};
    }
  };
  // An extent comes before structure of the same name.
  fill(problem().structure, Value::Kind::structure);
  fill(problem().extents, Value::Kind::extent);
}

std::optional<std::int64_t> AskedProblem::value(std::size_t name) const {
  const Value& known = values_[name];
  if (known.kind == Value::Kind::none) return std::nullopt;
  return known.value;
}

std::optional<std::int64_t> AskedProblem::extent(std::size_t name) const {
  const Value& known = values_[name];
  if (known.kind != Value::Kind::extent) return std::nullopt;
  return known.value;
}

const TunedProblem& AskedProblem::tuned() const {
  if (!tuned_) tuned_ = TunedProblem::of(*bound_);
  return *tuned_;
}

}  // namespace morton::plan
