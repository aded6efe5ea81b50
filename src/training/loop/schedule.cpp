// SPDX-License-Identifier: Apache-2.0
#include "training/loop/schedule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/numbers/checked.hpp"
#include "training/data/option_text.hpp"

namespace morton::training {
namespace {

constexpr const char* kSchedule = "schedule";

/// A loss counts as better than the best one when it is lower by this share of it.
constexpr double kBetter = 1e-4;

struct Form {
  Schedule::Kind kind;
  std::string_view name;
  std::set<std::string_view> options;
  std::string_view example;
};

const std::array<Form, 4>& forms() {
  static const std::array<Form, 4> kForms{{
      {Schedule::Kind::constant, "constant", {"warmup"}, "constant:warmup=100"},
      {Schedule::Kind::step, "step", {"every", "factor", "warmup"}, "step:every=10,factor=0.1"},
      {Schedule::Kind::cosine, "cosine", {"least", "warmup"}, "cosine:warmup=500"},
      {Schedule::Kind::plateau,
       "plateau",
       {"patience", "factor", "least", "warmup"},
       "plateau:patience=3,factor=0.5"},
  }};
  return kForms;
}

[[noreturn]] void fail(const std::string& text, const std::string& why) {
  std::string examples;
  for (const Form& form : forms()) {
    examples += (examples.empty() ? "" : ", ") + std::string(form.example);
  }
  throw UsageError(setting(kSchedule) + ": '" + text + "': " + why +
                   "; a schedule is constant, step, cosine or plateau with options: " + examples);
}

enum class Unit : std::uint8_t { steps, epochs };

/// A number of steps from "500", "500steps" or "2epochs"; `unit` is that of a bare number.
std::int64_t steps_of(OptionPart part, Unit unit, const TrainingLength& length) {
  for (const auto& [ending, said] : {std::pair(std::string_view("steps"), Unit::steps),
                                     std::pair(std::string_view("epochs"), Unit::epochs)}) {
    if (!part.value.ends_with(ending)) continue;
    part.value.resize(part.value.size() - ending.size());
    unit = said;
  }
  const std::int64_t number = whole_of(kSchedule, part, part.name == "warmup" ? 0 : 1);
  return unit == Unit::steps ? number : checked_mul(number, length.steps_per_epoch, kSchedule);
}

/// A share of the rate: above 0, or at least 0 for the lowest one, and below 1.
double share_of(const std::string& text, const OptionPart& part) {
  const double share = real_of(kSchedule, part);
  if (share >= 1.0 || share < 0.0 || (share == 0.0 && part.name != "least")) {
    fail(text, part.name + ": expected a number between 0 and 1, got " + part.value);
  }
  return share;
}

/// `base` to the power `count` by multiplication: the same on every platform.
double power(double base, std::int64_t count) {
  double result = 1.0;
  for (; count > 0 && result > 0.0; --count) result *= base;
  return result;
}

}  // namespace

Schedule::Schedule(const std::string& text, const TrainingLength& length) : length_(length) {
  if (length.steps_per_epoch < 1 || length.steps < 1) {
    throw UsageError(setting(kSchedule) + ": a training of " + std::to_string(length.steps) +
                     " steps; expected one at least");
  }
  const auto colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const Form* form = nullptr;
  for (const Form& known : forms()) {
    if (known.name == name) form = &known;
  }
  if (form == nullptr) fail(text, "there is no '" + name + "'");
  kind_ = form->kind;
  every_ = 10 * length.steps_per_epoch;
  patience_ = 3;
  reduction_ = kind_ == Kind::step ? 0.1 : 0.5;
  std::vector<OptionPart> parts;
  if (colon != std::string::npos) parts = option_parts(kSchedule, text.substr(colon + 1));
  for (const OptionPart& part : parts) {
    if (!form->options.contains(part.name)) {
      fail(text, name + " has no option '" + part.name + "'");
    }
    if (part.name == "warmup") warmup_ = steps_of(part, Unit::steps, length);
    if (part.name == "every") every_ = steps_of(part, Unit::epochs, length);
    if (part.name == "patience") patience_ = whole_of(kSchedule, part, 1);
    if (part.name == "factor") reduction_ = share_of(text, part);
    if (part.name == "least") least_ = share_of(text, part);
  }
  if (kind_ == Kind::cosine && warmup_ >= length.steps) {
    fail(text, "a warm-up of " + std::to_string(warmup_) + " steps leaves nothing of " +
                   std::to_string(length.steps));
  }
}

bool Schedule::is_like(const Schedule& other) const {
  const auto options = [](const Schedule& schedule) {
    return std::tie(schedule.kind_, schedule.warmup_, schedule.every_, schedule.patience_,
                    schedule.reduction_, schedule.least_);
  };
  return options(*this) == options(other);
}

double Schedule::factor(std::int64_t step) const {
  double factor = 1.0;
  switch (kind_) {
    case Kind::constant:
      break;
    case Kind::step:
      factor = power(reduction_, step / every_);
      break;
    case Kind::cosine: {
      const double done = static_cast<double>(std::max<std::int64_t>(step - warmup_, 0)) /
                          static_cast<double>(length_.steps - warmup_);
      const double fall = 0.5 * (1.0 + std::cos(std::numbers::pi * std::min(done, 1.0)));
      factor = least_ + (1.0 - least_) * fall;
      break;
    }
    case Kind::plateau:
      factor = std::max(power(reduction_, state_.reductions), least_);
      break;
  }
  if (step >= warmup_) return factor;
  return factor * static_cast<double>(step + 1) / static_cast<double>(warmup_);
}

void Schedule::observe(double loss) {
  if (kind_ != Kind::plateau) return;
  if (loss < state_.best - kBetter * std::fabs(state_.best) || std::isinf(state_.best)) {
    state_.best = std::isnan(loss) ? state_.best : loss;
    state_.waited = 0;
    return;
  }
  if (++state_.waited < patience_) return;
  ++state_.reductions;
  state_.waited = 0;
}

}  // namespace morton::training
