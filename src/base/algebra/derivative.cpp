// SPDX-License-Identifier: Apache-2.0
#include "base/algebra/derivative.hpp"

#include <utility>
#include <vector>

#include "base/algebra/slope_rules.hpp"

namespace morton {
namespace {

/// The chain without the steps that its result does not rest on.
Chain without_unread_steps(const Chain& chain) {
  std::vector<char> is_read(chain.steps.size(), 0);
  const auto read = [&](const ScalarRef& ref) {
    if (ref.kind == ScalarRef::Kind::step) is_read[ref.place()] = 1;
  };
  read(chain.result);
  for (std::size_t i = chain.steps.size(); i-- > 0;) {
    if (is_read[i] == 0) continue;
    for (const ScalarRef& argument : chain.steps[i].arguments) read(argument);
  }
  Chain kept;
  kept.input_count = chain.input_count;
  std::vector<int> numbers(chain.steps.size(), -1);
  const auto renumbered = [&](ScalarRef ref) {
    if (ref.kind == ScalarRef::Kind::step) {
      ref.index = numbers[ref.place()];
    }
    return ref;
  };
  for (std::size_t i = 0; i < chain.steps.size(); ++i) {
    if (is_read[i] == 0) continue;
    ScalarStep step = chain.steps[i];
    for (ScalarRef& argument : step.arguments) argument = renumbered(argument);
    numbers[i] = static_cast<int>(kept.steps.size());
    kept.steps.push_back(std::move(step));
  }
  kept.result = renumbered(chain.result);
  return kept;
}

/// Differentiates a chain forwards: beside each step goes its slope. Forwards, because a select
/// then takes one slope or the other; backwards it would multiply an overflow in the branch that is
/// not taken by 0.
class Differentiation {
 public:
  Differentiation(const Chain& chain, int input) : input_(input), rules_(chain_), writer_(chain_) {
    chain_.input_count = chain.input_count + 1;
    for (const ScalarStep& step : chain.steps) add(step);
    slope_of_result_ = slope_of(chain.result);
  }

  [[nodiscard]] std::optional<Chain> finish() {
    if (!slope_of_result_) return std::nullopt;
    chain_.result = times_gradient(*slope_of_result_);
    return without_unread_steps(chain_);
  }

 private:
  /// A value of the given chain as this one numbers it.
  [[nodiscard]] ScalarRef moved(const ScalarRef& ref) const {
    if (ref.kind == ScalarRef::Kind::input) return ScalarRef::input(ref.index + 1);
    if (ref.kind == ScalarRef::Kind::step) return values_[ref.place()];
    return ref;
  }

  [[nodiscard]] Slope slope_of(const ScalarRef& given) const {
    if (given.kind == ScalarRef::Kind::step) return slopes_[given.place()];
    const bool is_it = given.kind == ScalarRef::Kind::input && given.index == input_;
    return is_it ? Slope(ScalarRef::constant(1.0)) : Slope();
  }

  /// A slope that is 1 or 0 selects: a gradient that overflowed does not become NaN where it ends.
  ScalarRef times_gradient(ScalarRef slope) {
    const ScalarRef gradient = ScalarRef::input(0);
    if (slope.kind == ScalarRef::Kind::step) {
      const ScalarStep& step = chain_.steps[slope.place()];
      if (step.op == ScalarOp::select && is_constant(step.arguments[1], 1.0) &&
          is_constant(step.arguments[2], 0.0)) {
        return writer_.select(step.arguments[0], gradient, step.arguments[2]);
      }
    }
    return writer_.times(gradient, slope);
  }

  void add(const ScalarStep& step) {
    ScalarStep moved_step{step.op, {}, step.target};
    std::vector<Slope> slopes;
    for (const ScalarRef& argument : step.arguments) {
      moved_step.arguments.push_back(moved(argument));
      slopes.push_back(slope_of(argument));
    }
    chain_.steps.push_back(moved_step);
    const ScalarRef result = ScalarRef::step(static_cast<int>(chain_.steps.size()) - 1);
    values_.push_back(result);
    slopes_.push_back(rules_.of(moved_step, result, slopes));
  }

  int input_ = 0;
  Chain chain_;
  SlopeRules rules_;
  SlopeWriter writer_;
  std::vector<ScalarRef> values_;  ///< of the given chain's steps, here
  std::vector<Slope> slopes_;      ///< of the same
  Slope slope_of_result_;
};

}  // namespace

std::optional<Chain> gradient_chain(const Chain& chain, int input) {
  return Differentiation(chain, input).finish();
}

}  // namespace morton
