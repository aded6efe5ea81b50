// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include "base/rooms.hpp"
#include "graph/architectures/layers.hpp"

namespace morton::graph {
namespace {

/// Around this lie the scales of the last normalisation of a branch, so that the sum of branch and
/// shortcut hardly grows from block to block.
constexpr double kResnetBranchScale = 0.5;

/// What a block adds its branch to.
Image shortcut(Layers& net, const std::string& name, const Image& x, std::int64_t out,
               std::int64_t stride) {
  if (stride == 1 && x.channels == out) return x;
  const Image fitted = net.conv(name + ".downsample.0", x, out, {.stride = stride});
  return net.batch_norm(name + ".downsample.1", fitted);
}

using Block = Image (*)(Layers& net, const std::string& name, const Image& x, std::int64_t width,
                        std::int64_t stride);

/// Two convolutions 3x3.
Image basic_block(Layers& net, const std::string& name, const Image& x, std::int64_t width,
                  std::int64_t stride) {
  Image y = net.conv(name + ".conv1", x, width, {.size = 3, .stride = stride, .pad = 1});
  y = net.relu(name + ".relu", net.batch_norm(name + ".bn1", y));
  y = net.conv(name + ".conv2", y, width, {.size = 3, .pad = 1});
  y = net.batch_norm(name + ".bn2", y, kResnetBranchScale);
  return net.relu(name + ".relu_1",
                  net.add(name + "/Add", y, shortcut(net, name, x, width, stride)));
}

/// A convolution 1x1, one 3x3 by `filter` on as many channels, and one 1x1 to four times the width.
Image bottleneck_of(Layers& net, const std::string& name, const Image& x, std::int64_t width,
                    std::int64_t channels, const Filter& filter) {
  Image y = net.conv(name + ".conv1", x, channels, {});
  y = net.relu(name + ".relu", net.batch_norm(name + ".bn1", y));
  y = net.conv(name + ".conv2", y, channels, filter);
  y = net.relu(name + ".relu_1", net.batch_norm(name + ".bn2", y));
  y = net.batch_norm(name + ".bn3", net.conv(name + ".conv3", y, 4 * width, {}),
                     kResnetBranchScale);
  return net.relu(name + ".relu_2",
                  net.add(name + "/Add", y, shortcut(net, name, x, 4 * width, filter.stride)));
}

Image bottleneck(Layers& net, const std::string& name, const Image& x, std::int64_t width,
                 std::int64_t stride) {
  return bottleneck_of(net, name, x, width, width, {.size = 3, .stride = stride, .pad = 1});
}

/// The same with twice the channels in 32 groups.
Image aggregated(Layers& net, const std::string& name, const Image& x, std::int64_t width,
                 std::int64_t stride) {
  return bottleneck_of(net, name, x, width, 2 * width,
                       {.size = 3, .stride = stride, .pad = 1, .groups = 32});
}

Graph resnet(const Architecture& architecture, std::uint64_t seed, const std::array<int, 4>& blocks,
             Block block) {
  Layers net(architecture, seed);
  Image x = net.conv("conv1", net.input(3), 64,
                     {.size = 7, .stride = 2, .pad = 3, .gain = Gain::kLinear});
  x = net.max_pool("maxpool", net.relu("relu", net.batch_norm("bn1", x)), 3, 2, 1);
  std::int64_t width = 64;
  for (std::size_t layer = 0; layer < blocks.size(); ++layer, width *= 2) {
    for (int i = 0; i < blocks[layer]; ++i) {
      const std::string name = "layer" + std::to_string(layer + 1) + "." + std::to_string(i);
      x = block(net, name, x, width, layer > 0 && i == 0 ? 2 : 1);
    }
  }
  net.output_rows(net.dense("fc", net.pool_to_rows("avgpool", x), 1000));
  return net.finish();
}

}  // namespace

/// K. He et al., *Deep Residual Learning for Image Recognition* (2016), as torchvision has it.
Graph resnet18(const Architecture& architecture, std::uint64_t seed) {
  return resnet(architecture, seed, {2, 2, 2, 2}, basic_block);
}

/// Version 1.5: the 3x3 convolution of a block has its stride.
Graph resnet50(const Architecture& architecture, std::uint64_t seed) {
  return resnet(architecture, seed, {3, 4, 6, 3}, bottleneck);
}

/// S. Xie et al., *Aggregated Residual Transformations for Deep Neural Networks* (2017).
Graph resnext50(const Architecture& architecture, std::uint64_t seed) {
  return resnet(architecture, seed, {3, 4, 6, 3}, aggregated);
}

}  // namespace morton::graph
