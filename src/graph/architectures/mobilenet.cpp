// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "base/rooms.hpp"
#include "graph/architectures/layers.hpp"

namespace morton::graph {
namespace {

/// Blocks of one width.
struct MobilenetStage {
  std::int64_t expansion, channels;
  int blocks;
  std::int64_t stride;  ///< of the first
};
constexpr MobilenetStage kMobilenetStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2},
                                               {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2},
                                               {6, 320, 1, 1}};

/// Around this lie the scales of a branch that is added to its input.
constexpr double kMobilenetBranchScale = 0.5;

/// Convolution, normalisation, ReLU6.
Image conv_relu6(Layers& net, const std::string& name, const Image& x, std::int64_t out,
                 const Filter& filter) {
  const Image sums = net.batch_norm(name + ".1", net.conv(name + ".0", x, out, filter));
  return net.relu6(name + ".2", sums);
}

/// Wide by 1x1, 3x3 on each channel, narrow again by 1x1 without an activation.
Image inverted_residual(Layers& net, const std::string& name, const Image& x,
                        const MobilenetStage& stage, std::int64_t stride) {
  const std::int64_t wide = x.channels * stage.expansion;
  int index = 0;
  const auto next = [&] { return name + "." + std::to_string(index++); };
  Image y = x;
  if (stage.expansion > 1) y = conv_relu6(net, next(), y, wide, {.gain = Gain::kLinear});
  y = conv_relu6(net, next(), y, wide, {.size = 3, .stride = stride, .pad = 1, .groups = wide});
  y = net.conv(next(), y, stage.channels, {});
  const bool added = stride == 1 && x.channels == stage.channels;
  y = net.batch_norm(next(), y, added ? kMobilenetBranchScale : 1.0);
  return added ? net.add(name + "/Add", x, y) : y;
}

}  // namespace

/// M. Sandler et al., *MobileNetV2* (2018), as torchvision has it.
Graph mobilenet_v2(const Architecture& architecture, std::uint64_t seed) {
  Layers net(architecture, seed);
  Image x = conv_relu6(net, "features.0", net.input(3), 32,
                       {.size = 3, .stride = 2, .pad = 1, .gain = Gain::kLinear});
  int index = 1;
  for (const MobilenetStage& stage : kMobilenetStages) {
    for (int i = 0; i < stage.blocks; ++i) {
      const std::string name = "features." + std::to_string(index++) + ".conv";
      x = inverted_residual(net, name, x, stage, i == 0 ? stage.stride : 1);
    }
  }
  x = conv_relu6(net, "features.18", x, 1280, {.gain = Gain::kLinear});
  x = net.pool_to_rows("avgpool", x);
  net.output_rows(net.dense("classifier.1", x, 1000));
  return net.finish();
}

}  // namespace morton::graph
