// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/output.hpp"
#include "morton/tools/tune.hpp"

namespace morton::cli {

/// A network before and after its kernels were tuned.
struct NetworkTimes {
  double before_ms = 0.0, after_ms = 0.0;  ///< the least run
  int tuned_steps = 0, steps = 0;          ///< of the plan afterwards
};

/// "TILE_M=6 TILE_N=64".
[[nodiscard]] std::string values_text(const std::map<std::string, std::int64_t>& values);

/// How many times quicker; nothing where either was not measured.
[[nodiscard]] std::optional<double> gain(double before_ms, double after_ms);

/// What tuning found, of a model with its times.
[[nodiscard]] Json json_of(const TuneReport& report, const std::optional<NetworkTimes>& network);
[[nodiscard]] std::string text_of(const TuneReport& report,
                                  const std::optional<NetworkTimes>& network, Format format);

/// Prints how near the cost model's first guess comes to what tuning found on the device.
int report_guesses(const std::string& device_json, const CompileOptions& options, Format format);

}  // namespace morton::cli
