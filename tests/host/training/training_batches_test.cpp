// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "base/numbers/counter_generator.hpp"
#include "host/example_data.hpp"
#include "host/formats_files.hpp"
#include "support/rooms.hpp"
#include "training/data/batches.hpp"
#include "training/data/epoch_order.hpp"

namespace morton::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

struct Drawn {
  Tensor inputs, targets;
};

Drawn tensors_for(const Shape& input) {
  return {Tensor::allocate(DType::f32, input), Tensor::allocate(DType::i32, {input[0]})};
}

/// Numbers of the examples in the next batch of `numbered` data.
std::vector<int> next_examples(Batches& batches, const Shape& input) {
  Drawn drawn = tensors_for(input);
  batches.next(drawn.inputs, drawn.targets);
  const auto size = static_cast<std::size_t>(drawn.inputs.size() / input[0]);
  std::vector<int> numbers;
  for (std::size_t row = 0; row < static_cast<std::size_t>(input[0]); ++row) {
    const float value = drawn.inputs.as<float>()[row * size + size / 2];
    numbers.push_back(static_cast<int>(std::lround(value * 255.0F)));
    EXPECT_EQ(drawn.targets.as<std::int32_t>()[row], numbers.back() % 3);
  }
  return numbers;
}

/// The vectors that Random123 publishes (kat_vectors, philox4x32 10).
TEST(CounterGenerator, AgreesWithThePublishedVectors) {
  EXPECT_THAT(philox({0, 0, 0, 0}, {0, 0}),
              ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  constexpr std::uint32_t kAll = 0xffffffff;
  EXPECT_THAT(philox({kAll, kAll, kAll, kAll}, {kAll, kAll}),
              ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(RandomOrder, IsAPermutationThatFollowsFromItsPlace) {
  for (const std::int64_t count : {0, 1, 3, 17, 63, 1000}) {
    std::vector<std::uint32_t> order = random_order(count, 7, RandomStream::order, 2);
    EXPECT_EQ(order, random_order(count, 7, RandomStream::order, 2));
    std::vector<std::uint32_t> sorted(order.size());
    std::iota(sorted.begin(), sorted.end(), 0U);
    EXPECT_TRUE(std::is_permutation(order.begin(), order.end(), sorted.begin()));
    if (count < 17) continue;
    EXPECT_NE(order, sorted);
    EXPECT_NE(order, random_order(count, 8, RandomStream::order, 2));
    EXPECT_NE(order, random_order(count, 7, RandomStream::order, 3));
    EXPECT_NE(order, random_order(count, 7, RandomStream::validation, 2));
  }
  // Written down, so that another platform cannot differ unnoticed.
  EXPECT_THAT(random_order(7, 1, RandomStream::order, 0), ElementsAre(6, 4, 2, 1, 5, 0, 3));
}

/// Each number stands at each place about equally often.
TEST(RandomOrder, IsEven) {
  constexpr std::size_t kCount = 5;
  constexpr std::uint32_t kEpochs = 10000;
  std::vector<int> seen(kCount * kCount);
  for (std::uint32_t epoch = 0; epoch < kEpochs; ++epoch) {
    const auto order = random_order(kCount, 3, RandomStream::order, epoch);
    for (std::size_t i = 0; i < kCount; ++i) ++seen[i * kCount + order[i]];
  }
  // Six deviations of a binomial with 10000 draws of 1/5.
  EXPECT_THAT(seen, Each(testing::AllOf(testing::Gt(2000 - 240), testing::Lt(2000 + 240))));
}

TEST(Batches, ShowEachExampleOnceInAnEpoch) {
  const Shape input{3, 1, 3, 3};
  Batches batches(numbered(17), input, {});
  EXPECT_EQ(batches.per_epoch(), 5);
  EXPECT_EQ(batches.left_over(), 2);
  std::vector<std::vector<int>> epochs(2);
  for (std::vector<int>& epoch : epochs) {
    for (int i = 0; i < 5; ++i) {
      for (const int number : next_examples(batches, input)) epoch.push_back(number);
    }
    EXPECT_EQ(std::set<int>(epoch.begin(), epoch.end()).size(), 15U);
  }
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_EQ(batches.place(), (BatchPlace{2, 0}));
}

TEST(Batches, GoOnFromAPlaceAsIfNeverStopped) {
  const Shape input{3, 1, 3, 3};
  BatchOptions options;
  options.seed = 5;
  options.augmentation = parse_augmentation("shift=1,flip,crop=1");
  Batches whole(numbered(17), input, options);
  Drawn first = tensors_for(input);
  for (int i = 0; i < 7; ++i) whole.next(first.inputs, first.targets);
  Batches resumed(numbered(17), input, options);
  resumed.move_to(whole.place());
  for (int i = 0; i < 7; ++i) {
    Drawn a = tensors_for(input);
    Drawn b = tensors_for(input);
    whole.next(a.inputs, a.targets);
    resumed.next(b.inputs, b.targets);
    EXPECT_THAT(b.inputs.as<float>(), ElementsAreArray(a.inputs.as<float>()));
    EXPECT_THAT(b.targets.as<std::int32_t>(), ElementsAreArray(a.targets.as<std::int32_t>()));
  }
  EXPECT_THAT(message_of<ModelError>([&] { resumed.move_to({0, 5}); }), HasSubstr("at batch 5"));
}

TEST(Batches, RefuseWhatDoesNotFit) {
  const auto error = [](const Dataset& data, const Shape& input, const BatchOptions& options) {
    return message_of<UsageError>([&] { const Batches batches(data, input, options); });
  };
  EXPECT_THAT(error(numbered(17), {18, 1, 3, 3}, {}), HasSubstr("fewer than a batch of 18"));
  EXPECT_THAT(error(numbered(17, 2), {1, 3, 3, 3}, {}), HasSubstr("the network takes 3x3x3"));
  // As many values are not enough where both are pictures.
  EXPECT_THAT(error(numbered(17, 1, 6), {1, 6, 1, 6}, {}), HasSubstr("which stand first or last"));
  EXPECT_THAT(error(numbered(17, 3, 5), {1, 5, 3, 5}, {}), HasSubstr("the network takes 5x3x5"));
  EXPECT_THAT(error(numbered(17), {1, 10}, {}), HasSubstr("the network takes 10"));
  BatchOptions options;
  options.normalization.mean = {1.0F, 2.0F};
  EXPECT_THAT(error(numbered(17), {1, 9}, options), HasSubstr("expected one number"));
  options = {};
  options.augmentation = parse_augmentation("crop=1");
  EXPECT_THAT(error(numbered(17), {1, 1, 6, 6}, options), HasSubstr("a crop of 2 is enough"));
  Dataset features = numbered(17);
  features.inputs = Tensor::allocate(DType::f32, {17, 9});
  BatchOptions nothing;
  nothing.normalization.mean = {std::numeric_limits<float>::quiet_NaN()};
  EXPECT_THAT(error(numbered(17), {1, 9}, nothing), HasSubstr("mean: expected finite numbers"));
  EXPECT_THAT(error(features, {1, 9}, options), HasSubstr("augmentation (crop=1) is for pictures"));
}

TEST(FillInOrder, LeavesRowsBeyondTheEndZero) {
  const ExampleWriter writer(numbered(5), {3, 1, 3, 3}, {});
  Drawn drawn = tensors_for({3, 1, 3, 3});
  EXPECT_EQ(fill_in_order(writer, 0, drawn.inputs, drawn.targets), 3);
  EXPECT_EQ(fill_in_order(writer, 3, drawn.inputs, drawn.targets), 2);
  EXPECT_THAT(drawn.targets.as<std::int32_t>(), ElementsAre(0, 1, 0));
  EXPECT_THAT(drawn.inputs.as<float>().subspan(18), Each(0.0F));
  EXPECT_EQ(fill_in_order(writer, 6, drawn.inputs, drawn.targets), 0);
}

TEST(SplitOff, TakesAShareByTheSeed) {
  const Dataset data = numbered(63);
  const auto [rest, held] = split_off(data, 0.1, 4);
  EXPECT_EQ(rest.size(), 57);
  EXPECT_EQ(held.size(), 6);
  std::set<int> seen;
  for (const Dataset* part : {&rest, &held}) {
    int before = -1;
    for (std::int64_t i = 0; i < part->size(); ++i) {
      const int number = part->inputs.as<std::uint8_t>()[static_cast<std::size_t>(i * 9)];
      EXPECT_GT(number, before);
      EXPECT_EQ(part->targets.at(i), number % 3);
      seen.insert(before = number);
    }
  }
  EXPECT_EQ(seen.size(), 63U);
  const auto again = split_off(data, 0.1, 4).second;
  EXPECT_THAT(again.inputs.as<std::uint8_t>(), ElementsAreArray(held.inputs.as<std::uint8_t>()));
  EXPECT_THAT(split_off(data, 0.1, 5).second.inputs.as<std::uint8_t>(),
              testing::Not(ElementsAreArray(held.inputs.as<std::uint8_t>())));
  for (const double share : {0.0, 1.0, -0.5, 0.001, 0.999}) {
    EXPECT_THROW((void)split_off(data, share, 4), UsageError) << share;
  }
}

}  // namespace
}  // namespace morton::test
