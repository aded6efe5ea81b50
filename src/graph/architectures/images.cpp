// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "graph/architectures/layers.hpp"

namespace morton::graph {
namespace {

/// Twice: 3x3, normalisation, ReLU.
Image two_convs(Layers& net, const std::string& name, const Image& x, std::int64_t out,
                double gain) {
  Image y = net.conv(name + ".0", x, out, {.size = 3, .pad = 1, .gain = gain});
  y = net.relu(name + ".2", net.batch_norm(name + ".1", y));
  y = net.conv(name + ".3", y, out, {.size = 3, .pad = 1});
  return net.relu(name + ".5", net.batch_norm(name + ".4", y));
}

/// Twice as high and wide, half the channels.
Image double_size(Layers& net, const std::string& name, const Image& x) {
  const std::int64_t out = x.channels / 2;
  RandomNetwork& network = net.network();
  // A filter as large as its stride: each result is a sum over the channels alone.
  const TensorId weights =
      network.weights(name + ".weight", {x.channels, out, 2, 2}, x.channels, Gain::kRelu);
  const std::vector<std::int64_t> two{2, 2};
  return {
      network.node("ConvTranspose", name, {x.id, weights, network.biases(name + ".bias", {out})},
                   {{"kernel_shape", two}, {"strides", two}}),
      out};
}

/// Maxima of 2x2 at each pixel: padding below and to the right keeps the size.
Image pool_in_place(Layers& net, const std::string& name, const Image& x) {
  return net.apply("MaxPool", name, x,
                   {{"kernel_shape", std::vector<std::int64_t>{2, 2}},
                    {"strides", std::vector<std::int64_t>{1, 1}},
                    {"auto_pad", std::string("SAME_UPPER")}});
}

}  // namespace

/// O. Ronneberger et al., *U-Net* (2015), with padded convolutions and batch normalisation, as
/// it is mostly used: the result is as large as the image, whose sides are multiples of 16.
Graph unet(const Architecture& architecture, std::uint64_t seed) {
  Layers net(architecture, seed);
  Image x = two_convs(net, "inc", net.input(3), 64, Gain::kLinear);
  std::vector<Image> skipped;
  for (int level = 1; level <= 4; ++level) {
    skipped.push_back(x);
    const std::string name = "down" + std::to_string(level);
    x = net.max_pool(name + ".pool", x, 2, 2);
    x = two_convs(net, name + ".conv", x, 2 * x.channels, Gain::kRelu);
  }
  for (int level = 1; level <= 4; ++level) {
    const std::string name = "up" + std::to_string(level);
    const Image large = double_size(net, name + ".up", x);
    x = net.concat(name + "/Concat", {skipped.back(), large});
    skipped.pop_back();
    x = two_convs(net, name + ".conv", x, x.channels / 2, Gain::kRelu);
  }
  net.output_image(net.conv_bias("outc", x, 2, {}), "height", "width");
  return net.finish();
}

/// W. Shi et al., *Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel
/// Convolutional Neural Network* (2016): 5x5 to 64 channels, 3x3 to 32, 3x3 to the 9 pixels that
/// each pixel becomes.
Graph espcn(const Architecture& architecture, std::uint64_t seed) {
  Layers net(architecture, seed);
  Image x = net.conv_bias("conv1", net.input(1), 64, {.size = 5, .pad = 2, .gain = Gain::kLinear});
  x = net.apply("Tanh", "tanh1", x);
  x = net.conv_bias("conv2", x, 32, {.size = 3, .pad = 1, .gain = Gain::kTanh});
  x = net.apply("Tanh", "tanh2", x);
  x = net.conv_bias("conv3", x, 9, {.size = 3, .pad = 1, .gain = Gain::kTanh});
  const Image large = net.apply("DepthToSpace", "pixel_shuffle", x,
                                {{"blocksize", std::int64_t{3}}, {"mode", std::string("CRD")}});
  net.output_image({large.id, 1}, "height_x3", "width_x3");
  return net.finish();
}

/// J. Redmon and A. Farhadi, *YOLO9000* (2017), the small network for the 20 classes of VOC: 5
/// boxes of 25 numbers for each 32x32 pixels.
Graph tiny_yolo(const Architecture& architecture, std::uint64_t seed) {
  Layers net(architecture, seed);
  static constexpr std::int64_t kChannels[] = {16, 32, 64, 128, 256, 512, 1024, 1024};
  Image x = net.input(3);
  for (std::size_t i = 0; i < std::size(kChannels); ++i) {
    const std::string number = std::to_string(i + 1);
    const double gain = i == 0 ? Gain::kLinear : Gain::kRelu;
    x = net.conv("conv" + number, x, kChannels[i], {.size = 3, .pad = 1, .gain = gain});
    x = net.apply("LeakyRelu", "leaky" + number, net.batch_norm("bn" + number, x),
                  {{"alpha", 0.1}});
    if (i < 5) x = net.max_pool("pool" + number, x, 2, 2);
    if (i == 5) x = pool_in_place(net, "pool" + number, x);
  }
  net.output_image(net.conv_bias("conv9", x, 125, {}), "rows", "columns");
  return net.finish();
}

}  // namespace morton::graph
