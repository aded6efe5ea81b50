// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "base/rooms.hpp"
#include "graph/architectures/layers.hpp"

namespace morton::graph {
namespace {

/// Convolutions 3x3 before each pooling.
struct VggStage {
  int convolutions;
  std::int64_t channels;
};
constexpr VggStage kVggStages[] = {{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}};

std::string feature(int index) { return "features." + std::to_string(index); }

}  // namespace

/// Configuration D of K. Simonyan and A. Zisserman, *Very Deep Convolutional Networks for
/// Large-Scale Image Recognition* (2015). Its affine layers fix the image's size.
Graph vgg16(const Architecture& architecture, std::uint64_t seed) {
  Layers net(architecture, seed);
  Image x = net.input(3, 224);
  int index = 0;  // of the modules, as torchvision counts them
  for (const VggStage& stage : kVggStages) {
    for (int i = 0; i < stage.convolutions; ++i) {
      const double gain = index == 0 ? Gain::kLinear : Gain::kRelu;
      x = net.conv_bias(feature(index++), x, stage.channels, {.size = 3, .pad = 1, .gain = gain});
      x = net.relu(feature(index++), x);
    }
    x = net.max_pool(feature(index++), x, 2, 2);
  }
  x = {net.apply("Flatten", "flatten", x).id, 512 * 7 * 7};
  x = net.relu("classifier.1", net.dense("classifier.0", x, 4096));
  x = net.relu("classifier.4", net.dense("classifier.3", x, 4096));
  net.output_rows(net.dense("classifier.6", x, 1000));
  return net.finish();
}

}  // namespace morton::graph
