// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <vector>

#include "host/example_data.hpp"
#include "host/formats_files.hpp"
#include "support/rooms.hpp"
#include "training/data/example_writer.hpp"

namespace morton::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

TEST(ExampleWriter, ShowsWhatAWindowSees) {
  const Dataset picture = one_picture(1, 2, 3);  // 1 2 3 / 4 5 6
  EXPECT_THAT(levels_seen(picture, {1, 1, 2, 3}, {0, 0, Flip::none}),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(levels_seen(picture, {1, 1, 2, 3}, {0, 0, Flip::horizontal}),
              ElementsAre(3, 2, 1, 6, 5, 4));
  EXPECT_THAT(levels_seen(picture, {1, 1, 2, 3}, {1, -1, Flip::none}),
              ElementsAre(0, 4, 5, 0, 0, 0));
  EXPECT_THAT(levels_seen(picture, {1, 1, 2, 3}, {-1, 1, Flip::horizontal}),
              ElementsAre(0, 0, 0, 0, 3, 2));
  EXPECT_THAT(levels_seen(picture, {1, 1, 2, 3}, {0, 9, Flip::none}), Each(0));
  EXPECT_THAT(levels_seen(picture, {1, 1, 1, 2}, {1, 1, Flip::none}), ElementsAre(5, 6));
  EXPECT_THAT(levels_seen(picture, {1, 1, 1, 2}, {1, 1, Flip::horizontal}), ElementsAre(6, 5));
  EXPECT_THAT(levels_seen(picture, {1, 1, 4, 5}, middle_window({2, 3}, {4, 5})),
              ElementsAre(0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(levels_seen(picture, {1, 1, 1, 1}, middle_window({2, 3}, {1, 1})), ElementsAre(2));
  EXPECT_THAT(levels_seen(picture, {1, 6}, {}), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(levels_seen(one_picture(1, 1, 2), {1, 3, 1, 2}, {}), ElementsAre(1, 2, 1, 2, 1, 2));
  EXPECT_THAT(levels_seen(one_picture(2, 1, 2), {1, 2, 1, 2}, {0, 1, Flip::none}),
              ElementsAre(2, 0, 4, 0));
}

/// A network whose pictures have their channels last, as Keras makes them, sees the same picture.
TEST(ExampleWriter, PutsChannelsLastWhereTheNetworkHasThem) {
  // 1 2 3 / 4 5 6, 7 8 9 / 10 11 12, 13 14 15 / 16 17 18
  const Dataset coloured = one_picture(3, 2, 3);
  EXPECT_THAT(levels_seen(coloured, {1, 2, 3, 3}, {}),
              ElementsAre(1, 7, 13, 2, 8, 14, 3, 9, 15, 4, 10, 16, 5, 11, 17, 6, 12, 18));
  EXPECT_THAT(levels_seen(coloured, {1, 1, 2, 3}, {1, 1, Flip::horizontal, {}}),
              ElementsAre(6, 12, 18, 5, 11, 17));
  const Dataset grey = one_picture(1, 5, 6);
  std::vector<int> levels(30);
  std::iota(levels.begin(), levels.end(), 1);
  EXPECT_THAT(levels_seen(grey, {1, 5, 6, 1}, {}), ElementsAreArray(levels));
  EXPECT_THAT(levels_seen(grey, {1, 5, 1, 3}, middle_window({5, 6}, {5, 1})),
              ElementsAre(3, 3, 3, 9, 9, 9, 15, 15, 15, 21, 21, 21, 27, 27, 27));
  const ExampleWriter writer(coloured, {1, 2, 3, 3}, {{0.5F, 0.25F, 0.0F}, {1.0F}});
  Tensor inputs = Tensor::allocate(DType::f32, {1, 2, 3, 3});
  writer.write_input(0, {}, 0, inputs);
  EXPECT_FLOAT_EQ(inputs.as<float>()[1], 7.0F / 255.0F - 0.25F);
}

TEST(ExampleWriter, TakesRealsInRowsAndColumnsForGreyPictures) {
  Dataset data = one_picture(1, 2, 3);
  data.inputs = data.inputs.converted(DType::f32).reshaped({1, 2, 3});
  const ExampleWriter writer(data, {1, 1, 2, 4}, {});
  Tensor inputs = Tensor::allocate(DType::f32, {1, 1, 2, 4});
  writer.write_input(0, {}, 0, inputs);
  EXPECT_THAT(inputs.as<float>(), ElementsAre(1, 2, 3, 0, 4, 5, 6, 0));
}

TEST(ExampleWriter, NormalizesEachChannel) {
  Dataset data = one_picture(2, 1, 1);
  data.inputs.set(0, 255.0);
  data.inputs.set(1, 51.0);
  const Shape input{1, 2, 1, 2};
  const ExampleWriter writer(data, input, {{0.5F, 0.2F}, {0.25F, 0.1F}});
  Tensor inputs = Tensor::allocate(DType::f32, input);
  writer.write_input(0, {}, 0, inputs);
  // What lies outside of a picture is black before it is normalized.
  EXPECT_THAT(inputs.as<float>(), ElementsAre(2.0F, -2.0F, 0.0F, -2.0F));
}

TEST(ExampleWriter, WritesTargetsAsTheyAreAskedFor) {
  Dataset data = numbered(5);
  const ExampleWriter writer(data, {2, 9}, {});
  Tensor labels = Tensor::allocate(DType::i32, {2});
  writer.write_target(4, 1, labels);
  EXPECT_THAT(labels.as<std::int32_t>(), ElementsAre(0, 1));
  Tensor wide = Tensor::allocate(DType::i64, {2});
  EXPECT_THAT(message_of<UsageError>([&] { writer.write_target(4, 1, wide); }),
              HasSubstr("do not fit row 1 of i64 2"));
  Tensor ones = Tensor::allocate(DType::f32, {2, 3});
  writer.write_target(2, 1, ones);
  EXPECT_THAT(ones.as<float>(), ElementsAre(0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 1.0F));
  Tensor few = Tensor::allocate(DType::f32, {2, 2});
  EXPECT_THAT(message_of<UsageError>([&] { writer.write_target(2, 1, few); }),
              HasSubstr("do not fit row 1 of f32 2x2"));
  data.targets = Tensor::from({5, 1}, std::vector<float>{1, 2, 3, 4, 5});
  data.classes = 0;
  const ExampleWriter values(data, {2, 9}, {});
  Tensor targets = Tensor::allocate(DType::f32, {2, 1});
  values.write_target(3, 0, targets);
  EXPECT_THAT(targets.as<float>(), ElementsAre(4.0F, 0.0F));
}

/// The usual network of two classes has one output.
TEST(ExampleWriter, OfOneOutputTheLabelIsTheTarget) {
  const ExampleWriter writer(numbered(5), {2, 9}, {});
  for (const Shape& shape : {Shape{2, 1}, Shape{2}, Shape{2, 1, 1}}) {
    Tensor targets = Tensor::allocate(DType::f32, shape);
    writer.write_target(0, 0, targets);
    writer.write_target(1, 1, targets);
    EXPECT_THAT(targets.as<float>(), ElementsAre(0.0F, 1.0F));
    EXPECT_THAT(message_of<UsageError>([&] { writer.write_target(2, 1, targets); }),
                HasSubstr("do not fit row 1"));
  }
}

/// Whoever makes a data set of their own gets an error, not memory behind the targets.
TEST(ExampleWriter, RefusesWhatIsNoDataSet) {
  const auto errors = [](const std::function<void(Dataset&)>& change) {
    Dataset data = numbered(17);
    change(data);
    const auto split = message_of<ModelError>([&] { (void)split_off(data, 0.5, 1); });
    EXPECT_EQ(split, message_of<ModelError>([&] { const ExampleWriter writer(data, {1, 9}, {}); }));
    return split;
  };
  EXPECT_THAT(errors([](Dataset& d) { d.targets = Tensor::allocate(DType::i32, {3}); }),
              HasSubstr("are not of as many examples"));
  EXPECT_THAT(errors([](Dataset& d) { d = numbered(0); }), HasSubstr("holds no examples"));
  EXPECT_THAT(errors([](Dataset& d) {
                d.targets = Tensor::allocate(DType::i32, {17, 2});
              }),
              HasSubstr("a label for each example"));
  EXPECT_THAT(errors([](Dataset& d) { d.targets = Tensor::allocate(DType::f32, {17}); }),
              HasSubstr("then no classes"));
  EXPECT_THAT(errors([](Dataset& d) {
                d.inputs = Tensor::allocate(DType::i64, {17, 9});
              }),
              HasSubstr("expected inputs u8 or f32"));
}

}  // namespace
}  // namespace morton::test
