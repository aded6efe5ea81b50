// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/output.hpp"
#include "common/sources.hpp"
#include "morton/pictures.hpp"
#include "morton/tensor.hpp"
#include "words/cli11_names.hpp"

namespace morton::cli {

/// How outputs become a picture, as it was typed.
struct PictureWish {
  enum class Kind : std::uint8_t { by_shape, image, segmentation, boxes } kind = Kind::by_shape;
  std::string output;         ///< empty: the only one that can be read so
  std::vector<double> range;  ///< what is black, and what is white; empty: by the values
  enum class Order : std::uint8_t { by_name, xyxy, yxyx } order = Order::by_name;
  double least_score = 0.5;
  bool overlay = false;   ///< classes are laid over the photograph
  bool is_given = false;  ///< one of these options is
};

/// --picture and what belongs to it.
void add_options(CLI::App& command, PictureWish& wish);

/// The photograph that an input was made of.
struct Photograph {
  Tensor picture;  ///< u8 [H, W, C]
  PicturePreparation preparation;
  PictureSize input;  ///< what the network saw
};

/// That of the first input that is a picture, among these tensors; nothing where none is.
[[nodiscard]] std::optional<Photograph> photograph_of(const Sources& sources,
                                                      const std::vector<NamedTensor>& inputs);

/// A picture, how the outputs were read for it, and what its colours mean.
struct DrawnPicture {
  Tensor picture;       ///< u8 [H, W, C]
  std::string reading;  ///< for people
  Table legend;         ///< without rows: none
};

/// Throws UsageError, with the outputs and what to say, where they cannot be read so.
[[nodiscard]] DrawnPicture draw(const PictureWish& wish, const std::vector<NamedTensor>& outputs,
                                const std::optional<Photograph>& photograph,
                                const std::vector<std::string>& labels);

/// Of a class the colour that PASCAL VOC gives it: class 0 is black.
struct Colour3 {
  std::uint8_t red = 0, green = 0, blue = 0;
};
[[nodiscard]] Colour3 colour_of_class(std::int64_t number);
/// "#800000"
[[nodiscard]] std::string colour_text(const Colour3& colour);
/// The name of a class, or its number.
[[nodiscard]] std::string name_of_class(const std::vector<std::string>& labels,
                                        std::int64_t number);

/// A picture as red, green and blue, without alpha.
[[nodiscard]] Tensor as_colours(const Tensor& picture);

/// `draw` for boxes; nothing where the outputs hold none.
[[nodiscard]] std::optional<DrawnPicture> draw_boxes(const PictureWish& wish,
                                                     const std::vector<NamedTensor>& outputs,
                                                     const std::optional<Photograph>& photograph,
                                                     const std::vector<std::string>& labels);

}  // namespace morton::cli
