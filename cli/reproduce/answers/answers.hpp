// SPDX-License-Identifier: Apache-2.0
//
// Sentences that say what a table means. Columns are named in quotes. A difference counts where it
// exceeds kLeastDifference and the spreads of both numbers together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reproduce/experiment.hpp"

namespace morton::cli {

/// How a source answers a question.
enum class Stance : std::uint8_t { unknown, yes, no, equal, in_part };

/// What a source's text says where it has no numbers.
struct Said {
  std::string text = {};  ///< "2.8 times", "that groups win"
  Stance stance = Stance::unknown;
  std::string row = {};  ///< the row that it speaks of: "1024"; empty: all
};

/// All of these, one sentence after the other. The first is the verdict.
[[nodiscard]] Answer all_of(std::vector<Answer> answers);

/// "'A' is 1.04 to 1.41 times as fast as 'B' here (faster in 4 of 6 rows, within the spread in 2);
/// R17 published 1.44 times." Of the rows that have both; what was published, of all rows. Where
/// `said` names a row, that row stands first.
[[nodiscard]] Answer speed_ratio(const std::string& a, const std::string& b, const Said& said = {});

/// The same as the answer to "is A faster than B": "Here in part, in R17 yes: ...".
[[nodiscard]] Answer is_faster(const std::string& a, const std::string& b, const Said& said = {});

/// What each of these columns brings over the one before it.
[[nodiscard]] Answer ratio_by_step(std::vector<std::string> columns);

/// "Fastest here: 'A' in 4 of 6 rows, 'B' in 1, nobody in 1; in R17 'B' in all 6 rows." Of rows in
/// which most columns are measured; nobody is where the lead is within the spread. `said` is what
/// the source says is the fastest, where it has no numbers.
[[nodiscard]] Answer fastest_column(const std::string& said = "");

/// "'RM' is the slowest here in all 3 rows: 24 to 52 times as long as the fastest."
[[nodiscard]] Answer slowest_column();

/// "From size 128 to 1152, 'A' goes from 3.7 to 2.9 GFLOP/s here."
[[nodiscard]] Answer trend(const std::string& column);

/// "'A' is highest at size 640 here, 41 GFLOP/s; in R18 at size 1920, 5.7 GFLOP/s."
[[nodiscard]] Answer highest(const std::string& column);

/// "'A' does 30 GFLOP/s at most, and is within 10 % of that from size 512 on."
[[nodiscard]] Answer reaches_its_most(const std::string& column);

/// For each column the row with the most, and the rows within the spread of it.
[[nodiscard]] Answer best_rows(const std::string& what, const std::string& published);

/// "With 'A' this device is 4.7 times as fast as R17's (median of 6 rows)." Of rows that both have.
[[nodiscard]] Answer beside_published(const std::string& column);

/// Sums of a column, of the rows that are measured and published.
[[nodiscard]] Answer sum_beside_published(const std::string& column, const std::string& what);

/// "Over 13 rows 'A' is 1.4 times as fast as 'B' here (16 and 42 ms); in R18 2.6 times (13 rows)."
/// Columns of times.
[[nodiscard]] Answer speed_ratio_of_sums(const std::string& a, const std::string& b);

/// Which column of times has the least sum over the rows that every measured column has, and all
/// sums.
[[nodiscard]] Answer fastest_sum();

}  // namespace morton::cli
