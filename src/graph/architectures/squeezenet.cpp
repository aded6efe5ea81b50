// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "graph/architectures/layers.hpp"

namespace morton::graph {
namespace {

/// Maxima of 3x3, a last row or column of fewer included.
Image pool(Layers& net, const std::string& name, const Image& x) {
  return net.apply("MaxPool", name, x,
                   {{"kernel_shape", std::vector<std::int64_t>{3, 3}},
                    {"strides", std::vector<std::int64_t>{2, 2}},
                    {"ceil_mode", std::int64_t{1}}});
}

/// Few channels by 1x1, then as many by 1x1 as by 3x3, side by side.
Image fire(Layers& net, const std::string& name, const Image& x, std::int64_t squeezed,
           std::int64_t expanded) {
  const Image few =
      net.relu(name + ".squeeze_activation", net.conv_bias(name + ".squeeze", x, squeezed, {}));
  const Image small = net.relu(name + ".expand1x1_activation",
                               net.conv_bias(name + ".expand1x1", few, expanded, {}));
  const Image large =
      net.relu(name + ".expand3x3_activation",
               net.conv_bias(name + ".expand3x3", few, expanded, {.size = 3, .pad = 1}));
  return net.concat(name + "/Concat", {small, large});
}

}  // namespace

/// F. Iandola et al., *SqueezeNet* (2016), version 1.1 as torchvision has it.
Graph squeezenet1_1(const Architecture& architecture, std::uint64_t seed) {
  Layers net(architecture, seed);
  Image x = net.conv_bias("features.0", net.input(3), 64,
                          {.size = 3, .stride = 2, .gain = Gain::kLinear});
  x = pool(net, "features.2", net.relu("features.1", x));
  x = fire(net, "features.3", x, 16, 64);
  x = fire(net, "features.4", x, 16, 64);
  x = pool(net, "features.5", x);
  x = fire(net, "features.6", x, 32, 128);
  x = fire(net, "features.7", x, 32, 128);
  x = pool(net, "features.8", x);
  x = fire(net, "features.9", x, 48, 192);
  x = fire(net, "features.10", x, 48, 192);
  x = fire(net, "features.11", x, 64, 256);
  x = fire(net, "features.12", x, 64, 256);
  x = net.relu("classifier.2", net.conv_bias("classifier.1", x, 1000, {}));
  net.output_rows(net.pool_to_rows("classifier.3", x));
  return net.finish();
}

}  // namespace morton::graph
