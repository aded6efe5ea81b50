// SPDX-License-Identifier: Apache-2.0
#include "run/picture_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "morton/error.hpp"

namespace morton::cli {
namespace {

using Kind = PictureWish::Kind;

/// A network's output as channels of a picture.
struct Planes {
  Tensor values;
  std::int64_t channels = 0, height = 0, width = 0;
  bool first = true;  ///< the channels are the first extent

  [[nodiscard]] double at(std::int64_t c, std::int64_t pixel) const {
    return values.at(first ? c * height * width + pixel : pixel * channels + c);
  }
  [[nodiscard]] std::string text(const std::string& name) const {
    return fmt::format("output '{}' {}, {} channels of {}x{}, channels {}", name,
                       shape_text(values.shape()), channels, height, width,
                       first ? "first" : "last");
  }
};

bool is_whole_type(DType type) { return type == DType::i64 || type == DType::i32; }

/// Extents without the batch; nothing where the output is not of one picture.
std::optional<Shape> extents_of(const Tensor& tensor) {
  Shape shape = tensor.shape();
  if (shape.size() == 4 && shape.front() == 1) shape.erase(shape.begin());
  if (shape.size() == 2) shape.insert(shape.begin(), 1);
  if (shape.size() != 3 || tensor.size() == 0) return std::nullopt;
  return shape;
}

std::optional<Planes> planes_of(const Tensor& tensor, Kind kind) {
  const auto shape = extents_of(tensor);
  if (!shape) return std::nullopt;
  const auto is_colour = [](std::int64_t extent) { return extent == 1 || extent == 3; };
  bool first = shape->front() <= shape->back();
  if (kind == Kind::image) first = is_colour(shape->front());
  Planes planes{tensor, first ? shape->front() : shape->back(), 0, 0, first};
  planes.height = (*shape)[first ? 1 : 0];
  planes.width = (*shape)[first ? 2 : 1];
  if (kind == Kind::image && !is_colour(planes.channels)) return std::nullopt;
  return planes;
}

/// What an output can be without being told: nothing where its shape is no picture's.
std::optional<Kind> kind_by_shape(const Tensor& tensor) {
  // Longer stripes are lists of predictions, not pictures.
  constexpr std::int64_t kMostRatio = 20;
  constexpr std::int64_t kLeastSide = 8;
  const auto segments = planes_of(tensor, Kind::segmentation);
  if (!segments || tensor.shape().size() < 3) return std::nullopt;
  const auto image = planes_of(tensor, Kind::image);
  const Planes& planes = image ? *image : *segments;
  const auto [least, most] = std::minmax(planes.height, planes.width);
  if (least < kLeastSide || most / least > kMostRatio) return std::nullopt;
  if (is_whole_type(tensor.dtype())) return Kind::segmentation;
  return image ? Kind::image : Kind::segmentation;
}

std::string outputs_list(const std::vector<NamedTensor>& outputs) {
  std::string text;
  for (const NamedTensor& output : outputs) {
    text += fmt::format("\n{}  {}  {}", output.name, name_of(output.tensor.dtype()),
                        shape_text(output.tensor.shape()));
  }
  return text;
}

/// The values that are black and white. Throws UsageError where values are no numbers.
std::pair<double, double> range_of(const PictureWish& wish, const Planes& planes) {
  double least = planes.values.at(0);
  double most = least;
  for (std::int64_t i = 0; i < planes.values.size(); ++i) {
    const double value = planes.values.at(i);
    if (!std::isfinite(value)) throw UsageError("--output: the output holds NaN or infinity");
    least = std::min(least, value);
    most = std::max(most, value);
  }
  if (!wish.range.empty()) return {wish.range[0], wish.range[1]};
  if (planes.values.dtype() == DType::u8) return {0.0, 255.0};
  if (least >= -0.5 && most <= 2.0) return {0.0, 1.0};
  if (least >= -2.0 && most <= 2.0) return {-1.0, 1.0};
  if (least >= -128.0 && most <= 512.0) return {0.0, 255.0};
  throw UsageError(fmt::format(
      "--output: values from {:.6g} to {:.6g} are no picture's by themselves; --picture-range "
      "BLACK,WHITE says which values are black and white",
      least, most));
}

DrawnPicture draw_image(const PictureWish& wish, const NamedTensor& output, const Planes& planes) {
  const auto [black, white] = range_of(wish, planes);
  DrawnPicture drawn;
  drawn.picture = Tensor::allocate(DType::u8, {planes.height, planes.width, planes.channels});
  const std::span<std::uint8_t> levels = drawn.picture.as_mutable<std::uint8_t>();
  const std::int64_t pixels = planes.height * planes.width;
  for (std::int64_t c = 0; c < planes.channels; ++c) {
    for (std::int64_t p = 0; p < pixels; ++p) {
      const double level = (planes.at(c, p) - black) / (white - black) * 255.0;
      const double clamped = level >= 0.0 ? std::min(level, 255.0) : 0.0;
      levels[static_cast<std::size_t>(p * planes.channels + c)] =
          static_cast<std::uint8_t>(std::lround(clamped));
    }
  }
  drawn.reading = fmt::format("{}: read as an image, {} is black and {} is white",
                              planes.text(output.name), black, white);
  return drawn;
}

/// The class of each pixel, and in words how it was found.
std::pair<std::vector<std::int64_t>, std::string> classes_of(const Planes& planes) {
  const std::int64_t pixels = planes.height * planes.width;
  std::vector<std::int64_t> classes(static_cast<std::size_t>(pixels));
  if (planes.channels == 1) {
    bool shares = true;
    for (std::int64_t p = 0; p < pixels; ++p) {
      const double value = planes.at(0, p);
      shares = shares && value >= 0.0 && value <= 1.0;
    }
    const bool numbers = is_whole_type(planes.values.dtype());
    const double threshold = shares ? 0.5 : 0.0;
    for (std::int64_t p = 0; p < pixels; ++p) {
      const double value = planes.at(0, p);
      classes[static_cast<std::size_t>(p)] =
          numbers ? static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value > threshold);
    }
    return {classes, numbers ? "each pixel has the number of its class"
                             : fmt::format("class 1 above {}, else 0", threshold)};
  }
  for (std::int64_t p = 0; p < pixels; ++p) {
    std::int64_t best = 0;
    for (std::int64_t c = 1; c < planes.channels; ++c) {
      if (planes.at(c, p) > planes.at(best, p)) best = c;
    }
    classes[static_cast<std::size_t>(p)] = best;
  }
  return {classes, "each pixel is of the class whose channel is greatest"};
}

/// The photograph as the network saw it, in the size of its output.
Tensor seen_picture(const std::optional<Photograph>& photograph, const Planes& planes) {
  if (!photograph) {
    throw UsageError("--overlay: no input is a picture over which classes could be laid");
  }
  PicturePreparation stretch;
  stretch.resize = PicturePreparation::Resize::stretch;
  const Tensor seen =
      resized_picture(photograph->picture, photograph->input, photograph->preparation);
  return as_colours(resized_picture(seen, {planes.height, planes.width}, stretch));
}

DrawnPicture draw_segments(const PictureWish& wish, const NamedTensor& output, const Planes& planes,
                           const std::optional<Photograph>& photograph,
                           const std::vector<std::string>& labels) {
  const auto [classes, how] = classes_of(planes);
  DrawnPicture drawn;
  drawn.picture = Tensor::allocate(DType::u8, {planes.height, planes.width, 3});
  const Tensor under = wish.overlay ? seen_picture(photograph, planes) : Tensor();
  const std::span<std::uint8_t> levels = drawn.picture.as_mutable<std::uint8_t>();
  std::map<std::int64_t, std::int64_t> pixels;
  for (std::size_t p = 0; p < classes.size(); ++p) {
    ++pixels[classes[p]];
    const Colour3 colour = colour_of_class(classes[p]);
    const std::uint8_t own[] = {colour.red, colour.green, colour.blue};
    for (std::size_t c = 0; c < 3; ++c) {
      const unsigned below = wish.overlay ? under.as<std::uint8_t>()[p * 3 + c] : own[c];
      levels[p * 3 + c] = static_cast<std::uint8_t>((own[c] + below + 1U) / 2U);
    }
  }
  drawn.reading = fmt::format("{}: read as a segmentation, {}", planes.text(output.name), how);
  drawn.legend.columns = {
      {"class", Table::Align::right}, {"name"}, {"colour"}, {"percent", Table::Align::right}};
  for (const auto& [number, count] : pixels) {
    const double share = 100.0 * static_cast<double>(count) / static_cast<double>(classes.size());
    drawn.legend.rows.push_back({std::to_string(number), name_of_class(labels, number),
                                 colour_text(colour_of_class(number)),
                                 fmt::format("{:.2f}", share)});
  }
  return drawn;
}

/// The output that is drawn, and as what.
std::pair<const NamedTensor*, Kind> chosen_output(const PictureWish& wish,
                                                  const std::vector<NamedTensor>& outputs) {
  std::vector<std::pair<const NamedTensor*, Kind>> found;
  for (const NamedTensor& output : outputs) {
    if (!wish.output.empty() && output.name != wish.output) continue;
    const bool told = wish.kind != Kind::by_shape;
    if (told && planes_of(output.tensor, wish.kind)) found.emplace_back(&output, wish.kind);
    if (told) continue;
    if (const auto kind = kind_by_shape(output.tensor)) found.emplace_back(&output, *kind);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    throw UsageError(fmt::format(
        "--output: no output can be read as a picture{}; a detector's raw predictions must be "
        "exported with their suppression (NMS). The outputs:{}",
        wish.kind == Kind::by_shape ? ", nor as boxes, scores and classes" : " of that kind",
        outputs_list(outputs)));
  }
  throw UsageError(fmt::format(
      "--output: several outputs can be read as pictures; --picture-of NAME says which. The "
      "outputs:{}",
      outputs_list(outputs)));
}

}  // namespace

DrawnPicture draw(const PictureWish& wish, const std::vector<NamedTensor>& outputs,
                  const std::optional<Photograph>& photograph,
                  const std::vector<std::string>& labels) {
  const bool may_be_boxes = wish.output.empty() && wish.kind == Kind::by_shape;
  if (may_be_boxes || wish.kind == Kind::boxes) {
    if (auto drawn = draw_boxes(wish, outputs, photograph, labels)) return std::move(*drawn);
  }
  if (wish.kind == Kind::boxes) {
    throw UsageError(fmt::format(
        "--picture boxes: expected boxes [N, 4] with scores [N] and classes [N], or one output "
        "[N, 6] or [N, 7]; the outputs:{}",
        outputs_list(outputs)));
  }
  const auto [output, kind] = chosen_output(wish, outputs);
  const Planes planes = *planes_of(output->tensor, kind);
  if (kind == Kind::image) return draw_image(wish, *output, planes);
  return draw_segments(wish, *output, planes, photograph, labels);
}

}  // namespace morton::cli
