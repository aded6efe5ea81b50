// SPDX-License-Identifier: Apache-2.0
#include "common/pictures/picture_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <optional>
#include <string_view>

#include "common/options.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

using Resize = PicturePreparation::Resize;
using Filter = PicturePreparation::Filter;

/// The whole number that a text is, above 0.
std::optional<std::int64_t> pixels_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = problem == std::errc() && end == text.data() + text.size() && number > 0;
  return whole ? std::optional(number) : std::nullopt;
}

/// "224x320": height and width.
std::optional<PictureSize> size_of(std::string_view text) {
  const std::size_t cross = text.find('x');
  if (cross == std::string_view::npos) return std::nullopt;
  const auto height = pixels_of(text.substr(0, cross));
  const auto width = pixels_of(text.substr(cross + 1));
  if (!height || !width) return std::nullopt;
  return PictureSize{*height, *width};
}

void take_resize(const std::string& text, PicturePreparation& preparation) {
  preparation.resized = {};
  if (const auto side = pixels_of(text)) {
    preparation.resize = Resize::shorter_side;
    preparation.resized.height = *side;
  } else if (const auto size = size_of(text)) {
    preparation.resize = Resize::stretch;
    preparation.resized = *size;
  } else if (text == "stretch") {
    preparation.resize = Resize::stretch;
  } else if (text == "fit") {
    preparation.resize = Resize::fit;
  } else if (text == "cover") {
    preparation.resize = Resize::cover;
  } else if (text == "none") {
    preparation.resize = Resize::keep;
  } else {
    throw UsageError(fmt::format(
        "--resize {}: expected pixels of the shorter side, HEIGHTxWIDTH, stretch, fit, cover or "
        "none",
        text));
  }
}

void take_crop(const std::string& text, PicturePreparation& preparation) {
  if (const auto side = pixels_of(text)) {
    preparation.crop = PictureSize{*side, *side};
  } else if (const auto size = size_of(text)) {
    preparation.crop = *size;
  } else if (text == "input") {
    preparation.crop = PictureSize{};
  } else if (text == "none") {
    preparation.crop.reset();
  } else {
    throw UsageError(fmt::format("--crop {}: expected pixels, HEIGHTxWIDTH, input or none", text));
  }
}

}  // namespace

void add_options(CLI::App& command, PictureOptions& options) {
  command
      .add_option("--preset", options.preset,
                  fmt::format("How pictures are prepared: {}; options beside it change parts",
                              fmt::join(picture_presets(), ", ")))
      ->option_text("NAME")
      ->check(one_of(picture_presets()));
  command
      .add_option("--resize", options.resize,
                  "Pictures: N (the shorter side), HxW, or to the input's size: stretch, fit (all "
                  "within it), cover; none")
      ->option_text("HOW")
      ->check(offers({"stretch", "fit", "cover", "none"}));
  command
      .add_option("--crop", options.crop,
                  "Pictures: keep the middle, N (a square), HxW, or input (of its size); none")
      ->option_text("SIZE")
      ->check(offers({"input", "none"}));
  command
      .add_option("--filter", options.filter,
                  "Of --resize: bilinear or bicubic, as Pillow computes them (bilinear)")
      ->option_text("NAME")
      ->check(one_of(std::vector<std::string>{"bilinear", "bicubic"}));
  command.add_flag("--bgr", options.bgr, "Pictures: blue first, then green and red");
  command
      .add_option(
          "--mean", options.mean,
          "Subtracted from each value (pictures: level / 255, or level with --preset raw255 "
          "and caffe): one number, or one a channel")
      ->option_text("X,...")
      ->allow_extra_args(false)
      ->delimiter(',');
  command
      .add_option("--deviation,--std", options.deviation,
                  "Divides each value after --mean: one number, or one a channel")
      ->option_text("X,...")
      ->allow_extra_args(false)
      ->delimiter(',');
}

const std::vector<std::string>& picture_option_names() {
  static const std::vector<std::string> names{"--preset", "--resize", "--crop",     "--filter",
                                              "--bgr",    "--mean",   "--deviation"};
  return names;
}

bool changes_pixels(const PictureOptions& options) {
  return options.bgr || !(options.preset.empty() && options.resize.empty() &&
                          options.crop.empty() && options.filter.empty());
}

bool is_given(const PictureOptions& options) {
  return changes_pixels(options) || !options.mean.empty() || !options.deviation.empty();
}

PicturePreparation preparation_of(const PictureOptions& options) {
  PicturePreparation preparation;
  if (!options.preset.empty()) preparation = picture_preset(options.preset);
  if (!options.resize.empty()) take_resize(options.resize, preparation);
  if (!options.crop.empty()) take_crop(options.crop, preparation);
  if (!options.filter.empty()) {
    if (preparation.resize == Resize::keep) {
      throw UsageError(fmt::format("--filter {}: nothing is resized; give --resize or --preset",
                                   options.filter));
    }
    preparation.filter = options.filter == "bicubic" ? Filter::bicubic : Filter::bilinear;
  }
  if (options.bgr) preparation.colours = PicturePreparation::Colours::bgr;
  if (!options.mean.empty()) preparation.mean = options.mean;
  if (!options.deviation.empty()) preparation.deviation = options.deviation;
  return preparation;
}

}  // namespace morton::cli
