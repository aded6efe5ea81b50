// SPDX-License-Identifier: Apache-2.0
//
// What sentences of answers are made of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reproduce/experiment.hpp"

namespace morton::cli {

/// Less is no difference, however small the spread: clocks and caches swing as much between runs.
inline constexpr double kLeastDifference = 0.03;

/// "1.4", "33", "0.05": two digits that count.
[[nodiscard]] std::string rounded(double value);
/// A ratio: likewise, but with three digits near 1: "0.998", "1.04".
[[nodiscard]] std::string ratio_text(double ratio);
/// "1.2 times", "1.00 to 1.41 times".
[[nodiscard]] std::string times_text(const std::vector<double>& ratios);
/// "in all 6 rows", "in both rows"
[[nodiscard]] std::string all_rows_text(std::size_t rows);
/// "'RM x CM'"; in other quotes where the name has such.
[[nodiscard]] std::string quoted(const std::string& name);

/// How many times as fast the first is: more of a rate, less of a time.
[[nodiscard]] double times_as_fast(double a, double b, const std::string& unit);
/// The share of our number that may be chance.
[[nodiscard]] double doubt_of(const Finding& finding, std::size_t row, std::size_t column);
/// What the numbers of two columns have to differ by in a row, as a share.
[[nodiscard]] double least_difference(const Finding& finding, std::size_t row, std::size_t a,
                                      std::size_t b);

/// Whether a column has a number of ours.
[[nodiscard]] bool has_numbers(const Finding& finding, std::size_t column);
/// Why it has none: "failed", "cut"; empty where nobody asked for one.
[[nodiscard]] std::string why_empty(const Finding& finding, std::size_t column);
/// "Not answered here: 'A' has no number (failed)."
[[nodiscard]] std::string no_number_text(const Finding& finding, std::size_t column);

}  // namespace morton::cli
