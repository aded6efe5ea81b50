// SPDX-License-Identifier: Apache-2.0
#include "bench/cell_budget.hpp"

#include <fmt/format.h>

#include "common/options.hpp"
#include "common/statistics.hpp"

namespace morton::cli {
namespace {

/// Two checks, a warm-up and a sample with its uncounted call.
constexpr double kLeastCalls = 5.0;

}  // namespace

CellBudget::CellBudget(const std::string& text) : text_(text) {
  if (!text.empty()) ms_ = parse_duration_ms(text);
}

std::string CellBudget::refusal(const std::string& kernel, double work) const {
  const auto last = last_.find(kernel);
  if (!ms_ || last == last_.end()) return "";
  const double expected = last->second.ms * work / last->second.work;
  if (kLeastCalls * expected <= *ms_) return "";
  return fmt::format(
      "by its last size a call takes about {} ms here, and {:.0f} calls more than {}",
      digits_text(expected), kLeastCalls, text_);
}

bool CellBudget::affords_another_sample(const Contender& contender) const {
  return !ms_ || contender.samples().call.empty() ||
         contender.spent_ms() + contender.last_sample_ms() <= *ms_;
}

std::string CellBudget::shortage(std::size_t got, std::int64_t wanted) const {
  return fmt::format("{} of {} samples within {}", got, wanted, text_);
}

void CellBudget::note(const Contender& contender, double work) {
  last_[contender.name()] = {work, median_of(contender.samples().call)};
}

}  // namespace morton::cli
