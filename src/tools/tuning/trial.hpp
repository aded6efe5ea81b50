// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files/json_reader.hpp"
#include "base/rooms.hpp"
#include "plan/measured/tuned.hpp"

namespace morton::tools {

/// What a worker is asked to measure: a kernel with some values, in turns with others where there
/// are any to compare with.
struct TrialRequest {
  TunedProblem problem;
  std::string kernel;
  Environment tunables;
  std::optional<Environment> against;
  int samples = 1;         ///< of each
  double sample_ms = 0.0;  ///< calls back to back for at least this long, one wait at the end
  enum class Peak : std::uint8_t { none, sampled } peak = Peak::none;  ///< in the same turns
};

/// What came of it.
struct TrialOutcome {
  enum class Kind : std::uint8_t {
    measured,
    impossible,  ///< the device or the problem does not allow it
    refused,     ///< wrong results, no build, a process that a signal ended or that did not end
  } kind = Kind::measured;
  std::string why;  ///< unless measured
  /// Samples of one run in milliseconds, the i-th of each taken in the same turn. A candidate that
  /// is slower by far has one.
  std::vector<double> ms, against_ms;
  std::vector<double> peak_gflops;
};

[[nodiscard]] Json to_json(const TrialRequest& request);
/// Checked; throws ModelError.
[[nodiscard]] TrialRequest trial_request_from(const JsonReader& reader);
[[nodiscard]] Json to_json(const TrialOutcome& outcome);
[[nodiscard]] TrialOutcome trial_outcome_from(const JsonReader& reader);

}  // namespace morton::tools
