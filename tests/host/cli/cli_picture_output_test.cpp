// SPDX-License-Identifier: Apache-2.0
//
// How outputs of networks are read as pictures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "morton/error.hpp"
#include "run/picture_output.hpp"

namespace morton::cli {
namespace {

using ::testing::HasSubstr;
using Kind = PictureWish::Kind;

NamedTensor output(const std::string& name, const Shape& shape, const std::vector<float>& values) {
  return {name, Tensor::from(shape, values)};
}

/// All elements the same.
NamedTensor flat(const std::string& name, const Shape& shape, float value) {
  Tensor tensor = Tensor::allocate(DType::f32, shape);
  for (std::int64_t i = 0; i < tensor.size(); ++i) tensor.set(i, value);
  return {name, tensor};
}

Photograph photograph(const std::string& preset) {
  PicturePreparation preparation;
  if (!preset.empty()) preparation = picture_preset(preset);
  if (preset.empty()) preparation.resize = PicturePreparation::Resize::stretch;
  Tensor picture = Tensor::allocate(DType::u8, {100, 200, 3});
  return {picture, preparation, {64, 64}};
}

std::string refusal(const PictureWish& wish, const std::vector<NamedTensor>& outputs) {
  try {
    (void)draw(wish, outputs, photograph(""), {});
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

TEST(PictureOutput, ImagesInTheirRange) {
  struct Case {
    float value;
    double level;
  };
  // Values say which range is meant: 0 to 1, -1 to 1, 0 to 255.
  for (const Case& one : {Case{0.2F, 51}, Case{-0.1F, 0}, Case{1.2F, 255}, Case{-1.0F, 0},
                          Case{100.4F, 100}, Case{300.0F, 255}}) {
    const DrawnPicture drawn = draw({}, {flat("y", {1, 3, 9, 11}, one.value)}, {}, {});
    EXPECT_EQ(drawn.picture.shape(), (Shape{9, 11, 3}));
    EXPECT_EQ(drawn.picture.at(50), one.level) << one.value;
    EXPECT_THAT(drawn.reading, HasSubstr("read as an image"));
  }
  PictureWish wish;
  wish.range = {10.0, 20.0};
  EXPECT_EQ(draw(wish, {flat("y", {1, 9, 11, 1}, 12.0F)}, {}, {}).picture.at(0), 51);
  EXPECT_THAT(refusal({}, {flat("y", {1, 3, 9, 11}, 1000.0F)}), HasSubstr("--picture-range"));
  for (const PictureWish& any : {PictureWish(), wish}) {
    EXPECT_THAT(refusal(any, {flat("y", {1, 3, 9, 11}, std::nanf(""))}), HasSubstr("NaN"));
  }
}

TEST(PictureOutput, ClassesOfPixels) {
  NamedTensor scores = flat("y", {1, 4, 8, 8}, 0.0F);
  scores.tensor.set(2 * 64 + 9, 1.0);  // row 1, column 1 is of class 2
  const DrawnPicture drawn = draw({}, {scores}, {}, {"sky", "car", "tree", "road"});
  EXPECT_EQ(drawn.picture.at(9 * 3 + 1), 128);  // 2 is green
  EXPECT_EQ(drawn.picture.at(0), 0);
  ASSERT_EQ(drawn.legend.rows.size(), 2U);
  EXPECT_EQ(drawn.legend.rows[1], (std::vector<std::string>{"2", "tree", "#008000", "1.56"}));

  PictureWish overlay;
  overlay.overlay = true;
  Photograph white = photograph("");
  for (std::int64_t i = 0; i < white.picture.size(); ++i) white.picture.set(i, 255);
  EXPECT_EQ(draw(overlay, {scores}, white, {}).picture.at(0), 128);
  EXPECT_THROW((void)draw(overlay, {scores}, {}, {}), UsageError);

  const NamedTensor numbers{"y", flat("y", {1, 8, 8}, 3.0F).tensor.converted(DType::i64)};
  EXPECT_EQ(draw({}, {numbers}, {}, {}).legend.rows.front().front(), "3");
}

TEST(PictureOutput, BoxesOnThePhotograph) {
  const NamedTensor boxes = output("bboxes", {1, 2, 4}, {0.25F, 0.5F, 0.5F, 1.0F, 0, 0, 1, 1});
  const NamedTensor scores = output("scores", {1, 2}, {0.9F, 0.4F});
  const NamedTensor labels = output("labels", {1, 2}, {1.0F, 0.0F});
  const DrawnPicture drawn = draw({}, {boxes, labels, scores}, photograph(""), {"none", "person"});
  ASSERT_EQ(drawn.legend.rows.size(), 1U);  // the other is below --min-score
  EXPECT_EQ(drawn.legend.rows[0], (std::vector<std::string>{"1", "person", "#008000", "0.9000",
                                                            "50", "50", "100", "99"}));
  EXPECT_EQ(drawn.picture.at((50 * 200 + 60) * 3 + 1), 128);
  EXPECT_EQ(drawn.picture.at((70 * 200 + 75) * 3 + 1), 0);

  // Beside scores a detector gives indices; and what is no class has no frame.
  const NamedTensor indices = output("anchor_indices", {1, 2}, {7.0F, 8.0F});
  EXPECT_EQ(draw({}, {boxes, labels, scores, indices}, photograph(""), {}).legend.rows.size(), 1U);
  const NamedTensor none = output("labels", {1, 2}, {std::nanf(""), 1e30F});
  EXPECT_TRUE(draw({}, {boxes, none, scores}, photograph(""), {}).legend.rows.empty());

  // 100x200 fits as 32x64, 16 below the edge of 64x64.
  const NamedTensor rows = output("output0", {1, 1, 6}, {16, 16, 32, 48, 0.8F, 0});
  const DrawnPicture yolo = draw({}, {rows}, photograph("yolo"), {});
  ASSERT_EQ(yolo.legend.rows.size(), 1U);
  EXPECT_EQ(yolo.legend.rows[0][4] + " " + yolo.legend.rows[0][5], "50 0");
  EXPECT_EQ(yolo.legend.rows[0][6] + " " + yolo.legend.rows[0][7], "100 99");
  EXPECT_THAT(yolo.reading, HasSubstr("pixels"));

  const NamedTensor caffe =
      output("detection_out", {1, 1, 1, 7}, {0, 5, 0.7F, 0.25F, 0.5F, 0.5F, 1.0F});
  EXPECT_EQ(draw({}, {caffe}, photograph(""), {}).legend.rows.at(0).at(0), "5");

  PictureWish order;
  order.order = PictureWish::Order::yxyx;
  EXPECT_EQ(draw(order, {boxes, labels, scores}, photograph(""), {}).legend.rows.at(0).at(4),
            "100");
}

TEST(PictureOutput, SaysWhatItCannotRead) {
  EXPECT_THAT(refusal({}, {flat("raw", {1, 84, 2100}, 0.0F)}), HasSubstr("NMS"));
  EXPECT_THAT(refusal({}, {flat("y", {1, 10}, 0.0F)}), HasSubstr("y  f32  1x10"));
  const NamedTensor image = flat("a", {1, 3, 9, 9}, 0.5F);
  EXPECT_THAT(refusal({}, {image, flat("b", {1, 1, 9, 9}, 0.5F)}), HasSubstr("--picture-of"));
  PictureWish wish;
  wish.kind = Kind::boxes;
  EXPECT_THAT(refusal(wish, {image}), HasSubstr("[N, 6]"));
  wish.kind = Kind::image;
  EXPECT_THAT(refusal(wish, {flat("y", {1, 5, 9, 9}, 0.5F)}), HasSubstr("of that kind"));
}

}  // namespace
}  // namespace morton::cli
