// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reproduce/experiment.hpp"

namespace morton::cli {

/// "1.4", "33", "0.05": two digits that count.
[[nodiscard]] std::string rounded(double value);

/// All of these, one sentence after the other.
[[nodiscard]] Answer all_of(std::vector<Answer> answers);

/// "Here A is 1.4 times as fast as B at size 1024; R17 published 1.4 times." It is of the last row
/// that has both. `said` is what the source's text says where it has no figures there.
[[nodiscard]] Answer speed_ratio(const std::string& a, const std::string& b,
                                 const std::string& said = "");

/// "The fastest here is A, 26 GFLOP/s at size 512 (R17: B, 13 GFLOP/s)." Of the last row in which
/// most columns are measured.
[[nodiscard]] Answer fastest_column();

/// "Here the column A goes from 3.7 to 2.9 GFLOP/s as size goes from 128 to 1152."
[[nodiscard]] Answer trend(const std::string& column);

/// "This device takes 0.21 times as long as R17's over 6 rows (median)." Of rows that both have.
[[nodiscard]] Answer beside_published(const std::string& column);

/// Sums of a column, of the rows that are measured and published.
[[nodiscard]] Answer sum_beside_published(const std::string& column, const std::string& what);

}  // namespace morton::cli
