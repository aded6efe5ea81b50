// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <string>

#include "base/rooms.hpp"
#include "graph/architectures/layers.hpp"

namespace morton::graph {
namespace {

/// Blocks of one width.
struct EfficientnetStage {
  std::int64_t expansion, channels, size;
  int blocks;
  std::int64_t stride;  ///< of the first
};
constexpr EfficientnetStage kEfficientnetStages[] = {
    {1, 16, 3, 1, 1},  {6, 24, 3, 2, 2},  {6, 40, 5, 2, 2}, {6, 80, 3, 3, 2},
    {6, 112, 5, 3, 1}, {6, 192, 5, 4, 2}, {6, 320, 3, 1, 1}};

/// Around this lie the scales of a branch that is added to its input.
constexpr double kEfficientnetBranchScale = 0.5;

/// Convolution, normalisation, SiLU.
Image conv_silu(Layers& net, const std::string& name, const Image& x, std::int64_t out,
                const Filter& filter) {
  const Image sums = net.batch_norm(name + ".1", net.conv(name + ".0", x, out, filter));
  return net.silu(name + ".2", sums);
}

/// Scales each channel by what all channels' means say (squeeze and excitation).
Image excite(Layers& net, const std::string& name, const Image& x, std::int64_t squeezed) {
  const Image means = net.apply("GlobalAveragePool", name + ".avgpool", x);
  Image gate = net.conv_bias(name + ".fc1", means, squeezed, {.gain = Gain::kSilu});
  gate = net.silu(name + ".activation", gate);
  gate = net.conv_bias(name + ".fc2", gate, x.channels, {.gain = Gain::kSilu});
  gate = net.apply("Sigmoid", name + ".scale_activation", gate);
  return {net.network().node("Mul", name + "/Mul", {gate.id, x.id}), x.channels};
}

/// Wide by 1x1, each channel by itself, excited, narrow again by 1x1 without an activation.
Image block(Layers& net, const std::string& name, const Image& x, const EfficientnetStage& stage,
            std::int64_t stride) {
  const std::int64_t wide = x.channels * stage.expansion;
  int index = 0;
  const auto next = [&] { return name + "." + std::to_string(index++); };
  Image y = x;
  if (stage.expansion > 1) y = conv_silu(net, next(), y, wide, {.gain = Gain::kLinear});
  y = conv_silu(net, next(), y, wide,
                {.size = stage.size,
                 .stride = stride,
                 .pad = stage.size / 2,
                 .groups = wide,
                 .gain = Gain::kSilu});
  y = excite(net, next(), y, x.channels / 4);
  const std::string last = next();
  y = net.conv(last + ".0", y, stage.channels, {.gain = Gain::kSilu * Gain::kGate});
  const bool added = stride == 1 && x.channels == stage.channels;
  y = net.batch_norm(last + ".1", y, added ? kEfficientnetBranchScale : 1.0);
  return added ? net.add(name + "/Add", y, x) : y;
}

}  // namespace

/// M. Tan and Q. Le, *EfficientNet* (2019), B0 as torchvision has it.
Graph efficientnet_b0(const Architecture& architecture, std::uint64_t seed) {
  Layers net(architecture, seed);
  Image x = conv_silu(net, "features.0", net.input(3), 32,
                      {.size = 3, .stride = 2, .pad = 1, .gain = Gain::kLinear});
  for (std::size_t s = 0; s < std::size(kEfficientnetStages); ++s) {
    const EfficientnetStage& stage = kEfficientnetStages[s];
    for (int i = 0; i < stage.blocks; ++i) {
      const std::string name =
          "features." + std::to_string(s + 1) + "." + std::to_string(i) + ".block";
      x = block(net, name, x, stage, i == 0 ? stage.stride : 1);
    }
  }
  x = conv_silu(net, "features.8", x, 1280, {.gain = Gain::kLinear});
  x = net.pool_to_rows("avgpool", x);
  net.output_rows(net.dense("classifier.1", x, 1000, Gain::kSilu));
  return net.finish();
}

}  // namespace morton::graph
