// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "bench/contender.hpp"

namespace morton::cli {

/// Most time for one kernel at one size, and what kernels took so far.
class CellBudget {
 public:
  /// `text` is a duration; empty: no bound. Throws UsageError.
  explicit CellBudget(const std::string& text);

  /// Why the kernel is not run on a problem of this much work: by its time for the last one, a few
  /// calls alone would take longer. Empty where it is run.
  [[nodiscard]] std::string refusal(const std::string& kernel, double work) const;
  [[nodiscard]] bool affords_another_sample(const Contender& contender) const;
  /// Why the contender has fewer samples than were wanted.
  [[nodiscard]] std::string shortage(std::size_t got, std::int64_t wanted) const;
  /// Remembers the time of a call.
  void note(const Contender& contender, double work);

 private:
  struct Call {
    double work, ms;
  };
  std::string text_;
  std::optional<double> ms_;
  std::map<std::string, Call> last_;
};

}  // namespace morton::cli
