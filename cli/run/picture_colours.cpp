// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <span>

#include "run/picture_output.hpp"

namespace morton::cli {

std::optional<Photograph> photograph_of(const Sources& sources,
                                        const std::vector<NamedTensor>& inputs) {
  for (const NamedTensor& input : inputs) {
    const auto found = sources.find(input.name);
    if (found == sources.end() || !found->second.front().picture) continue;
    const Source& source = found->second.front();
    return Photograph{source.tensor, *source.picture, picture_size_of(input.tensor.shape())};
  }
  return std::nullopt;
}

Colour3 colour_of_class(std::int64_t number) {
  // Bit k of a third of the number goes to the k-th highest bit of a colour.
  Colour3 colour;
  auto rest = static_cast<std::uint64_t>(number);
  for (int bit = 7; bit >= 0; --bit, rest >>= 3U) {
    colour.red = static_cast<std::uint8_t>(colour.red | (rest & 1U) << bit);
    colour.green = static_cast<std::uint8_t>(colour.green | (rest >> 1U & 1U) << bit);
    colour.blue = static_cast<std::uint8_t>(colour.blue | (rest >> 2U & 1U) << bit);
  }
  return colour;
}

std::string colour_text(const Colour3& colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

std::string name_of_class(const std::vector<std::string>& labels, std::int64_t number) {
  const bool is_named = number >= 0 && number < static_cast<std::int64_t>(labels.size());
  return is_named ? labels[static_cast<std::size_t>(number)] : std::to_string(number);
}

Tensor as_colours(const Tensor& picture) {
  const Shape& shape = picture.shape();
  const auto channels = static_cast<std::size_t>(shape[2]);
  if (channels == 3) return picture;
  Tensor colours = Tensor::allocate(DType::u8, {shape[0], shape[1], 3});
  const std::span<const std::uint8_t> from = picture.as<std::uint8_t>();
  const std::span<std::uint8_t> to = colours.as_mutable<std::uint8_t>();
  for (std::size_t p = 0; p * 3 < to.size(); ++p) {
    for (std::size_t c = 0; c < 3; ++c) {
      to[p * 3 + c] = from[p * channels + (channels > 2 ? c : 0)];
    }
  }
  return colours;
}

}  // namespace morton::cli
