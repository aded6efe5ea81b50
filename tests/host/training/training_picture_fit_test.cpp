// SPDX-License-Identifier: Apache-2.0
//
// Where the channels of a network's input lie, and what its open extents become.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/example_data.hpp"
#include "host/formats_files.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using testing::HasSubstr;
using Order = PictureFit::Order;

Dataset reals(const Shape& shape) {
  Dataset data = one_picture(1, 1, 1);
  data.inputs = Tensor::allocate(DType::f32, shape);
  return data;
}

TEST(PictureFit, FindsTheChannels) {
  const Dataset coloured = one_picture(3, 5, 7), grey = one_picture(1, 5, 7);
  EXPECT_EQ(fit_pictures(coloured, {2, 3, 3, 3})->order, Order::channels_first);
  EXPECT_EQ(fit_pictures(coloured, {2, 9, 9, 3})->order, Order::channels_last);
  EXPECT_EQ(fit_pictures(coloured, {-1, -1, -1, 3})->order, Order::channels_last);
  EXPECT_EQ(fit_pictures(coloured, {-1, -1, -1, -1})->order, Order::channels_first);
  EXPECT_EQ(fit_pictures(coloured, {-1, 32, 32, -1})->order, Order::channels_last);
  EXPECT_EQ(fit_pictures(grey, {-1, -1, 17, 3})->order, Order::channels_last);
  EXPECT_EQ(fit_pictures(grey, {-1, 4, -1, -1})->input_channels, 4);
  for (const Shape& input : {Shape{1, 5, 7, 9}, Shape{-1, -1, -1, 1}}) {
    EXPECT_THAT(message_of<UsageError>([&] { (void)fit_pictures(coloured, input); }),
                HasSubstr("an example is 3x5x7, the network takes"));
  }
  EXPECT_THAT(message_of<UsageError>([&] {
                (void)fit_pictures(coloured, {-1, -1, -1, 1});
              }),
              HasSubstr("takes ?x?x1;"));
  EXPECT_FALSE(fit_pictures(coloured, {1, 105}).has_value());
  EXPECT_FALSE(fit_pictures(reals({4, 105}), {1, 3, 5, 7}).has_value());
}

TEST(PictureFit, SaysWhatTheNetworkSees) {
  EXPECT_TRUE(fit_pictures(reals({2, 40, 33}), {1, 1, 32, 33})->cuts());
  EXPECT_FALSE(fit_pictures(reals({2, 32, 33}), {1, 1, 32, 33})->cuts());
  EXPECT_TRUE(fit_pictures(one_picture(1, 5, 7), {1, 5, 6, 1})->cuts());
  EXPECT_FALSE(fit_pictures(one_picture(1, 5, 7), {1, -1, -1, 1})->cuts());
}

TEST(PictureFit, SettlesOpenExtents) {
  const Dataset coloured = one_picture(3, 5, 7);
  EXPECT_EQ(shape_for(coloured, {-1, 3, -1, -1}), (Shape{-1, 3, 5, 7}));
  EXPECT_EQ(shape_for(coloured, {4, -1, 6, 3}), (Shape{4, 5, 6, 3}));
  EXPECT_EQ(shape_for(coloured, {-1, -1}), (Shape{-1, -1}));
  EXPECT_EQ(shape_for(reals({2, 17}), {-1, -1}), (Shape{-1, 17}));
  EXPECT_EQ(shape_for(reals({2, 5, 7}), {-1, 1, -1, -1}), (Shape{-1, 1, 5, 7}));
  EXPECT_EQ(shape_for(reals({2}), {}), Shape{});
}

}  // namespace
}  // namespace morton::test
