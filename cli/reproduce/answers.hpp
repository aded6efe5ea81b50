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

/// "With A the speed here is 1.0 to 1.4 times that with B: faster in 4 of 6 rows; R17 published 1.4
/// times." Of the rows that have both; a difference counts beyond the spread of both. `said` is
/// what the source's text says where it has no figures there.
[[nodiscard]] Answer speed_ratio(const std::string& a, const std::string& b,
                                 const std::string& said = "");

/// "Fastest here: A in 4 of 6 rows, B in 1; in R17 B in all 6 rows." Of rows in which most columns
/// are measured; none is where its lead is within the spread.
[[nodiscard]] Answer fastest_column();

/// "From size 128 to 1152, A goes from 3.7 to 2.9 GFLOP/s here."
[[nodiscard]] Answer trend(const std::string& column);

/// "With A, this device is 4.7 times as fast as R17's (median of 6 rows)." Of rows that both have.
[[nodiscard]] Answer beside_published(const std::string& column);

/// Sums of a column, of the rows that are measured and published.
[[nodiscard]] Answer sum_beside_published(const std::string& column, const std::string& what);

/// "Over 13 rows A is 1.4 times as fast as B here (16 and 42 ms); in R18 2.6 times (13 rows)."
/// Columns of times.
[[nodiscard]] Answer speed_ratio_of_sums(const std::string& a, const std::string& b);

/// Which column of times has the least sum over the rows that every measured column has, and all
/// sums.
[[nodiscard]] Answer fastest_sum();

}  // namespace morton::cli
