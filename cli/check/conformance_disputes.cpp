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

constexpr std::string_view kRandom =
    "its numbers are random, and ONNX leaves open which generator makes them";

constexpr std::string_view kRoundingErrors =
    "where the transform is 0, it has the rounding errors of another one, which are above 1e-7";

constexpr std::string_view kNoEpsilon =
    "its result is that of epsilon 0.01, which the model of ONNX 1.12 does not state";

struct Dispute {
  std::string_view test;
  std::string_view reason;
};

constexpr std::array kDisputes{
    Dispute{"test_adam_multiple", kNoEpsilon},
    Dispute{"test_bernoulli", kRandom},
    Dispute{"test_bernoulli_double", kRandom},
    Dispute{"test_bernoulli_double_expanded", kRandom},
    Dispute{"test_bernoulli_expanded", kRandom},
    Dispute{"test_bernoulli_seed", kRandom},
    Dispute{"test_bernoulli_seed_expanded", kRandom},
    Dispute{"test_cast_FLOAT_to_BFLOAT16", kCutOff},
    Dispute{"test_castlike_BFLOAT16_to_FLOAT", kOneElement},
    Dispute{"test_castlike_BFLOAT16_to_FLOAT_expanded", kOneElement},
    Dispute{"test_castlike_FLOAT_to_BFLOAT16", kOneElement},
    Dispute{"test_castlike_FLOAT_to_BFLOAT16_expanded", kOneElement},
    Dispute{"test_dft_inverse", kRoundingErrors},
    Dispute{"test_dft_inverse_opset19", kRoundingErrors},
    Dispute{"test_resize_downsample_scales_cubic_align_corners", kFractionalLength},
    Dispute{"test_resize_downsample_scales_linear_align_corners", kFractionalLength},
    Dispute{"test_training_dropout", kRandom},
    Dispute{"test_training_dropout_default", kRandom},
    Dispute{"test_training_dropout_default_mask", kRandom},
    Dispute{"test_training_dropout_mask", kRandom},
};

}  // namespace

std::string_view dispute_over(std::string_view test) {
  const auto found = std::ranges::find(kDisputes, test, &Dispute::test);
  return found == kDisputes.end() ? std::string_view() : found->reason;
}

}  // namespace morton::cli
