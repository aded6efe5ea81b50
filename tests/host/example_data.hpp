// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "support/rooms.hpp"
#include "training/data/example_writer.hpp"

namespace morton::test {

/// `count` pictures whose levels are all the example's number, labels the number modulo 3.
inline Dataset numbered(std::int64_t count, std::int64_t channels = 1, std::int64_t side = 3) {
  Dataset data;
  data.where = "numbered";
  data.inputs = Tensor::allocate(DType::u8, {count, channels, side, side});
  data.targets = Tensor::allocate(DType::i32, {count});
  data.classes = 3;
  const std::int64_t size = channels * side * side;
  for (std::int64_t i = 0; i < data.inputs.size(); ++i) {
    data.inputs.set(i, static_cast<double>(i / size));
  }
  for (std::int64_t i = 0; i < count; ++i) data.targets.set(i, static_cast<double>(i % 3));
  return data;
}

/// One picture [1, channels, height, width] with the levels 1, 2, 3 ...
inline Dataset one_picture(std::int64_t channels, std::int64_t height, std::int64_t width) {
  Dataset data;
  data.where = "picture";
  data.inputs = Tensor::allocate(DType::u8, {1, channels, height, width});
  for (std::int64_t i = 0; i < data.inputs.size(); ++i) {
    data.inputs.set(i, static_cast<double>(i + 1));
  }
  data.targets = Tensor::allocate(DType::i32, {1});
  data.classes = 1;
  return data;
}

/// Levels that a network of this input sees of the first example through `window`.
inline std::vector<int> levels_seen(const Dataset& data, const Shape& input,
                                    const PictureWindow& window) {
  const ExampleWriter writer(data, input, {});
  Tensor inputs = Tensor::allocate(DType::f32, input);
  for (float& value : inputs.as_mutable<float>()) value = -1.0F;
  writer.write_input(0, window, 0, inputs);
  std::vector<int> levels;
  for (const float value : inputs.as<float>()) {
    levels.push_back(static_cast<int>(std::lround(value * 255.0F)));
  }
  return levels;
}

}  // namespace morton::test
