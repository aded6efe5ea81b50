// SPDX-License-Identifier: Apache-2.0
#include "tools/tuning/tune_pace.hpp"

#include <algorithm>
#include <string>

#include "plan/policy/tunables.hpp"
#include "tools/tuning/tune_problem.hpp"

namespace morton::tools {

TunePace::Clock::time_point TunePace::deadline_of(std::size_t index) const {
  const double left_ms = std::max(0.0, options_.budget_ms - used_ms());
  const double share_ms = left_ms / static_cast<double>(pairs_.size() - index);
  return Clock::now() + std::chrono::microseconds(static_cast<std::int64_t>(share_ms * 1e3));
}

void TunePace::tell(std::size_t index, const Search& search) const {
  if (!options_.progress) return;
  const double inside =
      search.goal() == 0 ? 1.0
                         : static_cast<double>(search.tried()) / static_cast<double>(search.goal());
  const double done = (static_cast<double>(index) + inside) / static_cast<double>(pairs_.size());
  const double share_of_time = std::min(1.0, used_ms() / options_.budget_ms);
  options_.progress({std::max(done, share_of_time), text_of(pairs_[index], search)});
}

double TunePace::used_ms() const {
  return std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
}

std::string TunePace::text_of(const TunePair& pair, const Search& search) const {
  std::string text = pair.entry->name + " " + print_extents(pair.problem) + ": " +
                     std::to_string(search.tried()) + " of " + std::to_string(search.goal());
  if (!search.best()) return text;
  const double gflops =
      flop_of(*pair.entry, pair.bound.problem, device_) / (search.best_ms() * 1e6);
  text += ", best " + std::to_string(static_cast<std::int64_t>(gflops)) + " GFLOP/s";
  const std::string values = print_tunables(*search.best());
  if (!values.empty()) text += " (" + values + ")";
  return text;
}

}  // namespace morton::tools
