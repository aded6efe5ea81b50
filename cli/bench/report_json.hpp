// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/bench_report.hpp"

namespace morton::cli {

/// The whole report for programs; "contenders" holds a row for each.
[[nodiscard]] Json report_json(const Field& field, const Setting& setting);

}  // namespace morton::cli
