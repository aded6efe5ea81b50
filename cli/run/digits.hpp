// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/terminal.hpp"
#include "morton/tensor.hpp"

namespace morton::cli {

/// Handwritten digits with what they show.
struct Digits {
  Tensor images;                    ///< u8 [N, H, W], white on black
  std::vector<std::int64_t> truth;  ///< N labels
};

/// The test digits of a folder in MNIST's format, packed or not. Throws ModelError.
[[nodiscard]] Digits read_test_digits(const std::string& folder);

/// Digits `first` to `first + shape[0] - 1` as a network's input of `shape` [N, 1, H', W']: levels
/// / 255, centred on zeros. Rows beyond the last digit stay zero. Throws UsageError when the digits
/// are larger.
[[nodiscard]] Tensor digits_to_input(const Digits& digits, std::int64_t first, const Shape& shape);

/// What a network said of one digit.
struct Answer {
  std::int64_t digit = 0;
  double probability = 0.0;
};

/// The first `answers.size()` digits side by side, as wide as the terminal allows, each above the
/// answer and the truth. Two rows of pixels to a line: half blocks where there is UTF-8, else grey
/// levels as characters.
[[nodiscard]] std::string draw_digits(const Digits& digits, const std::vector<Answer>& answers,
                                      const Terminal& terminal);

}  // namespace morton::cli
