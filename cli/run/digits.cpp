// SPDX-License-Identifier: Apache-2.0
#include "run/digits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "common/output.hpp"
#include "morton/error.hpp"
#include "morton/files.hpp"

namespace morton::cli {
namespace {

constexpr std::size_t kGap = 2;            // columns between two digits
constexpr std::size_t kCaptionWidth = 17;  // "7 (99.99 %) truth"

/// The only tensor of `name` or `name`.gz in `folder`.
Tensor read_idx(const std::string& folder, const std::string& name) {
  const std::filesystem::path plain = std::filesystem::path(folder) / name;
  const std::string path = std::filesystem::exists(plain) ? plain.string() : plain.string() + ".gz";
  if (!std::filesystem::exists(path)) {
    throw ModelError(fmt::format("{}: no such file; --data names the folder of the digits", path));
  }
  std::vector<NamedTensor> tensors = read_tensors(path);
  if (tensors.size() != 1) {
    throw ModelError(fmt::format("{}: expected one array, got {}", path, tensors.size()));
  }
  return tensors.front().tensor;
}

/// The part of the images that is not black in some of these digits.
struct Window {
  std::int64_t top = 0, left = 0, height = 0, width = 0;
};

std::uint8_t pixel(const Digits& digits, std::size_t digit, std::int64_t y, std::int64_t x) {
  const Shape& shape = digits.images.shape();
  if (y < 0 || y >= shape[1] || x < 0 || x >= shape[2]) return 0;
  const auto index = (static_cast<std::int64_t>(digit) * shape[1] + y) * shape[2] + x;
  return digits.images.as<std::uint8_t>()[static_cast<std::size_t>(index)];
}

Window window_of(const Digits& digits, std::size_t from, std::size_t to) {
  const std::int64_t height = digits.images.shape()[1];
  const std::int64_t width = digits.images.shape()[2];
  std::int64_t top = height, bottom = -1, left = width, right = -1;
  for (std::size_t digit = from; digit < to; ++digit) {
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        if (pixel(digits, digit, y, x) == 0) continue;
        top = std::min(top, y);
        bottom = std::max(bottom, y);
        left = std::min(left, x);
        right = std::max(right, x);
      }
    }
  }
  if (bottom < top) return {0, 0, height, width};
  return {top, left, bottom - top + 1, right - left + 1};
}

/// One character that shows two pixels, one above the other.
std::string_view cell(std::uint8_t upper, std::uint8_t lower, const Terminal& terminal) {
  if (terminal.utf8) {
    static constexpr std::string_view kBlocks[] = {" ", "▄", "▀", "█"};
    return kBlocks[(upper >= 96 ? 2 : 0) + (lower >= 96 ? 1 : 0)];
  }
  static constexpr std::string_view kLevels = " .:-=+*#%@";
  const int level = (upper + lower) / 2;
  return kLevels.substr(static_cast<std::size_t>(level) * kLevels.size() / 256, 1);
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, characters_of(text)), ' ');
}

/// Digits `from` to `to` - 1, side by side in columns of `width`.
std::string draw_row(const Digits& digits, const std::vector<Answer>& answers, std::size_t from,
                     std::size_t to, const Window& window, std::size_t width,
                     const Terminal& terminal) {
  std::string text;
  const auto end_line = [&text] {
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  };
  for (std::int64_t y = 0; y < window.height; y += 2) {
    for (std::size_t digit = from; digit < to; ++digit) {
      std::string line;
      for (std::int64_t x = 0; x < window.width; ++x) {
        const std::int64_t row = window.top + y;
        line += cell(pixel(digits, digit, row, window.left + x),
                     pixel(digits, digit, row + 1, window.left + x), terminal);
      }
      text += padded(line, width);
    }
    end_line();
  }
  for (std::size_t i = from; i < to; ++i) {
    text += padded(
        fmt::format("answer {} ({:.1f} %)", answers[i].digit, 100.0 * answers[i].probability),
        width);
  }
  end_line();
  for (std::size_t i = from; i < to; ++i) {
    const bool right = answers[i].digit == digits.truth[i];
    const std::string caption =
        padded(fmt::format("truth  {}{}", digits.truth[i], right ? "" : "  WRONG"), width);
    text += right ? caption : coloured(terminal, Colour::red, caption);
  }
  end_line();
  return text;
}

}  // namespace

Digits read_test_digits(const std::string& folder) {
  Digits digits;
  digits.images = read_idx(folder, "t10k-images-idx3-ubyte");
  const Tensor labels = read_idx(folder, "t10k-labels-idx1-ubyte");
  const Shape& shape = digits.images.shape();
  if (digits.images.dtype() != DType::u8 || shape.size() != 3 || shape[0] == 0 ||
      labels.shape() != Shape{shape[0]}) {
    throw ModelError(fmt::format(
        "{}: expected u8 images [N, H, W] and N labels, got {} images of shape {} and labels of {}",
        folder, name_of(digits.images.dtype()), shape_text(shape), shape_text(labels.shape())));
  }
  for (std::int64_t i = 0; i < labels.size(); ++i) {
    digits.truth.push_back(static_cast<std::int64_t>(labels.at(i)));
  }
  return digits;
}

Tensor digits_to_input(const Digits& digits, std::int64_t first, const Shape& shape) {
  const Shape& from = digits.images.shape();
  if (shape.size() != 4 || shape[1] != 1 || shape[2] < from[1] || shape[3] < from[2]) {
    throw UsageError(
        fmt::format("the model takes {}, but digits need [N, 1, H, W] of at least {}x{}",
                    shape_text(shape), from[1], from[2]));
  }
  const std::int64_t count = std::min(shape[0], from[0] - first);
  const std::int64_t top = (shape[2] - from[1]) / 2;
  const std::int64_t left = (shape[3] - from[2]) / 2;
  Tensor input = Tensor::allocate(DType::f32, shape);
  const std::span<float> values = input.as_mutable<float>();
  for (std::int64_t n = 0; n < count; ++n) {
    for (std::int64_t y = 0; y < from[1]; ++y) {
      for (std::int64_t x = 0; x < from[2]; ++x) {
        const std::int64_t to = (n * shape[2] + top + y) * shape[3] + left + x;
        const std::uint8_t level = pixel(digits, static_cast<std::size_t>(first + n), y, x);
        values[static_cast<std::size_t>(to)] = static_cast<float>(level) / 255.0F;
      }
    }
  }
  return input;
}

std::string draw_digits(const Digits& digits, const std::vector<Answer>& answers,
                        const Terminal& terminal) {
  const std::size_t count = std::min(answers.size(), digits.truth.size());
  if (count == 0) return "";
  const Window whole = window_of(digits, 0, count);
  const std::size_t width = std::max(static_cast<std::size_t>(whole.width), kCaptionWidth) + kGap;
  const std::size_t fit = (static_cast<std::size_t>(terminal.width) + kGap) / width;
  const std::size_t in_row = std::max<std::size_t>(1, fit);
  std::string text;
  for (std::size_t from = 0; from < count; from += in_row) {
    const std::size_t to = std::min(count, from + in_row);
    // Columns line up from row to row; each row is as high as its own digits.
    Window window = window_of(digits, from, to);
    window.left = whole.left;
    window.width = whole.width;
    text += draw_row(digits, answers, from, to, window, width, terminal) + "\n";
  }
  return text;
}

}  // namespace morton::cli
