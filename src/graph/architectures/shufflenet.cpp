// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "graph/architectures/layers.hpp"

namespace morton::graph {
namespace {

struct ShufflenetStage {
  const char* name;
  int blocks;
  std::int64_t channels;
};
constexpr ShufflenetStage kShufflenetStages[] = {
    {"stage2", 4, 116}, {"stage3", 8, 232}, {"stage4", 4, 464}};

/// Interleaves the two halves of the channels. Batch and image size are open, so the shapes are
/// computed from the image's, as PyTorch writes it.
Image shuffle(Layers& net, const std::string& name, const Image& x) {
  RandomNetwork& network = net.network();
  const TensorId shape = network.node("Shape", name + "/Shape", {x.id});
  const auto extent = [&](const std::string& what, std::int64_t dimension) {
    const std::string here = name + "/" + what;
    const TensorId index = network.index(here + ".index", dimension);
    const TensorId scalar =
        network.node("Gather", here, {shape, index}, {{"axis", std::int64_t{0}}});
    const TensorId axes = network.list(here + ".axes", {0});
    return network.node("Unsqueeze", here + "/Unsqueeze", {scalar, axes});
  };
  const TensorId batch = extent("batch", 0);
  const TensorId height = extent("height", 2);
  const TensorId width = extent("width", 3);
  const auto reshape = [&](const std::string& what, TensorId from,
                           const std::vector<std::int64_t>& channels) {
    const std::string here = name + "/" + what;
    const TensorId middle = network.list(here + ".channels", channels);
    const TensorId target = network.node("Concat", here + "/Concat", {batch, middle, height, width},
                                         {{"axis", std::int64_t{0}}});
    return network.node("Reshape", here, {from, target});
  };
  const TensorId halves = reshape("Reshape", x.id, {2, x.channels / 2});
  const TensorId turned = network.node("Transpose", name + "/Transpose", {halves},
                                       {{"perm", std::vector<std::int64_t>{0, 2, 1, 3, 4}}});
  return {reshape("Reshape_1", turned, {-1}), x.channels};
}

Image conv_relu(Layers& net, const std::string& name, const std::string& norm,
                const std::string& relu, const Image& x, std::int64_t out, double gain) {
  const Image sums = net.conv(name, x, out, {.gain = gain});
  return net.relu(relu, net.batch_norm(norm, sums));
}

/// 3x3 on each channel, without an activation.
Image depthwise(Layers& net, const std::string& name, const std::string& norm, const Image& x,
                std::int64_t stride, double gain) {
  const Filter filter{.size = 3, .stride = stride, .pad = 1, .groups = x.channels, .gain = gain};
  return net.batch_norm(norm, net.conv(name, x, x.channels, filter));
}

/// 1x1, 3x3 on each channel, 1x1.
Image branch(Layers& net, const std::string& name, const Image& x, std::int64_t out,
             std::int64_t stride) {
  const auto part = [&](int index) { return name + "." + std::to_string(index); };
  Image y = conv_relu(net, part(0), part(1), part(2), x, out, Gain::kRelu);
  y = depthwise(net, part(3), part(4), y, stride, Gain::kRelu);
  return conv_relu(net, part(5), part(6), part(7), y, out, Gain::kLinear);
}

/// Halves the image; both branches see all channels.
Image first_block(Layers& net, const std::string& name, const Image& x, std::int64_t out) {
  const std::string one = name + ".branch1";
  Image left = depthwise(net, one + ".0", one + ".1", x, 2, Gain::kRelu);
  left = conv_relu(net, one + ".2", one + ".3", one + ".4", left, out / 2, Gain::kLinear);
  const Image right = branch(net, name + ".branch2", x, out / 2, 2);
  return shuffle(net, name, net.concat(name + "/Concat", {left, right}));
}

/// The first half of the channels goes through as it is.
Image block(Layers& net, const std::string& name, const Image& x) {
  const std::int64_t half = x.channels / 2;
  RandomNetwork& network = net.network();
  const TensorId sizes = network.list(name + "/Split.sizes", {half, half});
  const auto halves =
      network.node_of(2, "Split", name + "/Split", {x.id, sizes}, {{"axis", std::int64_t{1}}});
  const Image right = branch(net, name + ".branch2", {halves[1], half}, half, 1);
  return shuffle(net, name, net.concat(name + "/Concat", {{halves[0], half}, right}));
}

}  // namespace

/// N. Ma et al., *ShuffleNet V2* (2018), width x1.0 as torchvision has it.
Graph shufflenet_v2(const Architecture& architecture, std::uint64_t seed) {
  Layers net(architecture, seed);
  Image x = net.conv("conv1.0", net.input(3), 24,
                     {.size = 3, .stride = 2, .pad = 1, .gain = Gain::kLinear});
  x = net.relu("conv1.2", net.batch_norm("conv1.1", x));
  x = net.max_pool("maxpool", x, 3, 2, 1);
  for (const ShufflenetStage& stage : kShufflenetStages) {
    for (int i = 0; i < stage.blocks; ++i) {
      const std::string name = stage.name + ("." + std::to_string(i));
      x = i == 0 ? first_block(net, name, x, stage.channels) : block(net, name, x);
    }
  }
  x = net.relu("conv5.2", net.batch_norm("conv5.1", net.conv("conv5.0", x, 1024, {})));
  const TensorId means = net.network().node(
      "ReduceMean", "mean", {x.id},
      {{"axes", std::vector<std::int64_t>{2, 3}}, {"keepdims", std::int64_t{0}}});
  net.output_rows(net.dense("fc", {means, x.channels}, 1000));
  return net.finish();
}

}  // namespace morton::graph
