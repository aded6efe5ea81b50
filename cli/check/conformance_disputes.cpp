// SPDX-License-Identifier: Apache-2.0
#include "check/conformance_disputes.hpp"

#include <algorithm>
#include <array>

namespace morton::cli {
namespace {

constexpr std::string_view kCutOff =
    "its bfloat16 are cut off, not rounded to the nearest as the types' conversions are";
constexpr std::string_view kOneElement =
    "the model declares 'like' as 3x4, the data hold one element of it";
constexpr std::string_view kFractionalLength =
    "it takes scale * length, 2.4, for length_resized, which is the whole length of the result";

struct Dispute {
  std::string_view test;
  std::string_view reason;
};

constexpr std::array kDisputes{
    Dispute{"test_cast_FLOAT_to_BFLOAT16", kCutOff},
    Dispute{"test_castlike_BFLOAT16_to_FLOAT", kOneElement},
    Dispute{"test_castlike_BFLOAT16_to_FLOAT_expanded", kOneElement},
    Dispute{"test_castlike_FLOAT_to_BFLOAT16", kOneElement},
    Dispute{"test_castlike_FLOAT_to_BFLOAT16_expanded", kOneElement},
    Dispute{"test_resize_downsample_scales_cubic_align_corners", kFractionalLength},
    Dispute{"test_resize_downsample_scales_linear_align_corners", kFractionalLength},
};

}  // namespace

std::string_view dispute_over(std::string_view test) {
  const auto found = std::ranges::find(kDisputes, test, &Dispute::test);
  return found == kDisputes.end() ? std::string_view() : found->reason;
}

}  // namespace morton::cli
