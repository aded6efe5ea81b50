// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "morton/error.hpp"
#include "run/picture_output.hpp"

namespace morton::cli {
namespace {

/// A box in the coordinates of what the network saw.
struct Box {
  double left = 0.0, top = 0.0, right = 0.0, bottom = 0.0, score = 0.0;
  std::int64_t number = 0;  ///< of its class
};

struct Boxes {
  std::vector<Box> boxes;
  std::string reading;
};

bool is_real_tensor(const Tensor& tensor) {
  return tensor.dtype() == DType::f32 || tensor.dtype() == DType::f16 ||
         tensor.dtype() == DType::f64;
}

bool speaks_of(const std::string& name, std::initializer_list<std::string_view> words) {
  std::string low = name;
  std::ranges::transform(low, low.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  return std::ranges::any_of(
      words, [&](std::string_view word) { return low.find(word) != std::string::npos; });
}

/// The class that a value is; -1 for what is none.
std::int64_t class_of(double value) {
  constexpr double kMostClasses = 1e9;
  return value >= 0.0 && value < kMostClasses ? static_cast<std::int64_t>(value) : -1;
}

/// Rows of one output: which column is what.
struct Columns {
  std::size_t left = 0, score = 0, number = 0;
  std::string_view text;
};

/// One output [N, 6] or [N, 7], 1s in front.
std::optional<Boxes> boxes_of_rows(const NamedTensor& output) {
  const Shape& shape = output.tensor.shape();
  if (shape.size() < 2 || !is_real_tensor(output.tensor)) return std::nullopt;
  const std::int64_t width = shape.back();
  const std::int64_t rows = shape[shape.size() - 2];
  if ((width != 6 && width != 7) || output.tensor.size() != rows * width) return std::nullopt;
  Columns columns{0, 4, 5, "left, top, right, bottom, score, class"};
  if (width == 7 && shape.size() == 4) {
    columns = {3, 2, 1, "image, class, score, left, top, right, bottom (Caffe's)"};
  } else if (width == 7) {
    columns = {1, 6, 5, "image, left, top, right, bottom, class, score (YOLOv7's)"};
  }
  Boxes found;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto at = [&](std::size_t column) {
      return output.tensor.at(row * width + static_cast<std::int64_t>(column));
    };
    found.boxes.push_back({at(columns.left), at(columns.left + 1), at(columns.left + 2),
                           at(columns.left + 3), at(columns.score), class_of(at(columns.number))});
  }
  found.reading = fmt::format("output '{}' {}: read as boxes: {}", output.name, shape_text(shape),
                              columns.text);
  return found;
}

/// Outputs [N, 4], [N] and [N], 1s in front.
std::optional<Boxes> boxes_of_three(const PictureWish& wish,
                                    const std::vector<NamedTensor>& outputs) {
  const NamedTensor* boxes = nullptr;
  const NamedTensor* scores = nullptr;
  const NamedTensor* numbers = nullptr;
  for (const NamedTensor& output : outputs) {
    const Shape& shape = output.tensor.shape();
    const bool is_boxes = shape.size() >= 2 && shape.back() == 4 && is_real_tensor(output.tensor) &&
                          output.tensor.size() == shape[shape.size() - 2] * 4;
    if (is_boxes && !boxes) boxes = &output;
  }
  if (!boxes) return std::nullopt;
  const std::int64_t count = boxes->tensor.size() / 4;
  for (const NamedTensor& output : outputs) {
    if (&output == boxes || output.tensor.size() != count || output.tensor.shape().empty())
      continue;
    const bool is_numbers =
        !is_real_tensor(output.tensor) || speaks_of(output.name, {"class", "label"});
    const NamedTensor*& found = is_numbers ? numbers : scores;
    // Detectors also give as many indices; names tell them apart.
    const bool is_named = is_numbers ? speaks_of(output.name, {"class", "label"})
                                     : speaks_of(output.name, {"score", "conf"});
    if (!found || is_named) found = &output;
  }
  if (!scores || !numbers) return std::nullopt;
  const bool rows_first = wish.order == PictureWish::Order::yxyx ||
                          (wish.order == PictureWish::Order::by_name &&
                           boxes->name.find("detection_boxes") != std::string::npos);
  Boxes found;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = [&](std::int64_t k) { return boxes->tensor.at(i * 4 + k); };
    const std::int64_t number = class_of(numbers->tensor.at(i));
    const double score = scores->tensor.at(i);
    found.boxes.push_back(rows_first ? Box{at(1), at(0), at(3), at(2), score, number}
                                     : Box{at(0), at(1), at(2), at(3), score, number});
  }
  found.reading =
      fmt::format("outputs '{}' ({}), '{}' and '{}': read as boxes, scores and classes",
                  boxes->name, rows_first ? "top, left, bottom, right" : "left, top, right, bottom",
                  scores->name, numbers->name);
  return found;
}

std::optional<Boxes> read_boxes(const PictureWish& wish, const std::vector<NamedTensor>& outputs) {
  if (auto three = boxes_of_three(wish, outputs)) return three;
  for (const NamedTensor& output : outputs) {
    if (!wish.output.empty() && wish.output != output.name) continue;
    if (auto rows = boxes_of_rows(output)) return rows;
  }
  return std::nullopt;
}

/// From what the network saw to the photograph, within its edges.
void put_on(const Photograph& photograph, const Box& from, bool shares, Box& to) {
  const Shape& shape = photograph.picture.shape();
  const PicturePlace place =
      place_of({shape[0], shape[1]}, photograph.input, photograph.preparation);
  const double factor_y = shares ? static_cast<double>(place.size.height) : 1.0;
  const double factor_x = shares ? static_cast<double>(place.size.width) : 1.0;
  const auto x = [&](double value) {
    return std::clamp((value * factor_x - place.left) / place.scale_x, 0.0,
                      static_cast<double>(shape[1] - 1));
  };
  const auto y = [&](double value) {
    return std::clamp((value * factor_y - place.top) / place.scale_y, 0.0,
                      static_cast<double>(shape[0] - 1));
  };
  to = {x(from.left), y(from.top), x(from.right), y(from.bottom), from.score, from.number};
}

void draw_frame(Tensor& picture, const Box& box) {
  constexpr std::int64_t kPixelsOfALine = 250;
  const Shape& shape = picture.shape();
  const std::int64_t line =
      std::max<std::int64_t>(std::max(shape[0], shape[1]) / kPixelsOfALine, 2);
  const auto left = std::llround(box.left);
  const auto top = std::llround(box.top);
  const auto right = std::llround(box.right);
  const auto bottom = std::llround(box.bottom);
  const Colour3 colour = colour_of_class(box.number + 1);  // class 0 of palettes is black
  const std::span<std::uint8_t> levels = picture.as_mutable<std::uint8_t>();
  for (std::int64_t y = top; y <= bottom; ++y) {
    for (std::int64_t x = left; x <= right; ++x) {
      const bool inner =
          y - top >= line && bottom - y >= line && x - left >= line && right - x >= line;
      if (inner) continue;
      const auto at = static_cast<std::size_t>((y * shape[1] + x) * 3);
      levels[at] = colour.red;
      levels[at + 1] = colour.green;
      levels[at + 2] = colour.blue;
    }
  }
}

}  // namespace

std::optional<DrawnPicture> draw_boxes(const PictureWish& wish,
                                       const std::vector<NamedTensor>& outputs,
                                       const std::optional<Photograph>& photograph,
                                       const std::vector<std::string>& labels) {
  std::optional<Boxes> found = read_boxes(wish, outputs);
  if (!found) return std::nullopt;
  if (!photograph) {
    throw UsageError("--output: boxes are drawn on a photograph, and no input is one");
  }
  std::erase_if(found->boxes, [&](const Box& box) {
    const std::array corners{box.left, box.top, box.right, box.bottom};
    const bool finite = std::ranges::all_of(corners, [](double v) { return std::isfinite(v); });
    return !finite || !(box.score >= wish.least_score) || box.number < 0;
  });
  std::ranges::stable_sort(found->boxes, std::ranges::greater(), &Box::score);
  // Shares of the input's sides reach a little beyond 1; in pixels no box is so small.
  constexpr double kMostShareOfSide = 2.0;
  const bool shares = std::ranges::all_of(found->boxes, [](const Box& box) {
    return std::max(std::abs(box.right), std::abs(box.bottom)) <= kMostShareOfSide;
  });
  DrawnPicture drawn;
  drawn.picture = as_colours(photograph->picture).clone();
  drawn.legend.columns = {{"class", Table::Align::right},
                          {"name"},
                          {"colour"},
                          {"score", Table::Align::right},
                          {"left", Table::Align::right},
                          {"top", Table::Align::right},
                          {"right", Table::Align::right},
                          {"bottom", Table::Align::right}};
  for (const Box& box : found->boxes) {
    Box placed;
    put_on(*photograph, box, shares, placed);
    draw_frame(drawn.picture, placed);
    drawn.legend.rows.push_back(
        {std::to_string(box.number), name_of_class(labels, box.number),
         colour_text(colour_of_class(box.number + 1)), fmt::format("{:.4f}", box.score),
         fmt::format("{:.0f}", placed.left), fmt::format("{:.0f}", placed.top),
         fmt::format("{:.0f}", placed.right), fmt::format("{:.0f}", placed.bottom)});
  }
  drawn.reading =
      fmt::format("{}; coordinates in {}; {} boxes of a score of {} and more", found->reading,
                  shares ? "shares of the input's sides" : "the input's pixels",
                  found->boxes.size(), wish.least_score);
  return drawn;
}

}  // namespace morton::cli
