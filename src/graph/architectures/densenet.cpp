// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <string>

#include "base/rooms.hpp"
#include "graph/architectures/layers.hpp"

namespace morton::graph {
namespace {

constexpr int kLayers[] = {6, 12, 24, 16};  ///< of each block
constexpr std::int64_t kGrowth = 32;        ///< channels that a layer adds

/// New channels from all before: 1x1 to four times as many, then 3x3.
Image dense_layer(Layers& net, const std::string& name, const Image& x) {
  Image y = net.relu(name + ".relu1", net.batch_norm(name + ".norm1", x));
  y = net.conv(name + ".conv1", y, 4 * kGrowth, {});
  y = net.relu(name + ".relu2", net.batch_norm(name + ".norm2", y));
  return net.conv(name + ".conv2", y, kGrowth, {.size = 3, .pad = 1});
}

/// Half the channels, a quarter of the image.
Image transition(Layers& net, const std::string& name, const Image& x) {
  const Image y = net.relu(name + ".relu", net.batch_norm(name + ".norm", x));
  return net.average_pool(name + ".pool", net.conv(name + ".conv", y, x.channels / 2, {}), 2);
}

}  // namespace

/// G. Huang et al., *Densely Connected Convolutional Networks* (2017), as torchvision has it.
Graph densenet121(const Architecture& architecture, std::uint64_t seed) {
  Layers net(architecture, seed);
  Image x = net.conv("features.conv0", net.input(3), 64,
                     {.size = 7, .stride = 2, .pad = 3, .gain = Gain::kLinear});
  x = net.relu("features.relu0", net.batch_norm("features.norm0", x));
  x = net.max_pool("features.pool0", x, 3, 2, 1);
  for (std::size_t b = 0; b < std::size(kLayers); ++b) {
    const std::string number = std::to_string(b + 1);
    for (int i = 1; i <= kLayers[b]; ++i) {
      const std::string name = "features.denseblock" + number + ".denselayer" + std::to_string(i);
      x = net.concat(name + "/Concat", {x, dense_layer(net, name, x)});
    }
    if (b + 1 < std::size(kLayers)) x = transition(net, "features.transition" + number, x);
  }
  x = net.relu("relu", net.batch_norm("features.norm5", x));
  net.output_rows(net.dense("classifier", net.pool_to_rows("avgpool", x), 1000));
  return net.finish();
}

}  // namespace morton::graph
