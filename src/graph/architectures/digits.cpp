// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "graph/architectures/layers.hpp"

namespace morton::graph {
namespace {

/// LeNet-5's subsampling: mean of 2x2, then one scale and one bias for each channel.
Image subsample(Layers& net, const std::string& name, const Image& x) {
  const std::vector<std::int64_t> two{2, 2};
  const Shape channels{x.channels, 1, 1};
  RandomNetwork& network = net.network();
  const TensorId means = network.node("AveragePool", name + "/pool", {x.id},
                                      {{"kernel_shape", two}, {"strides", two}});
  const TensorId scaled = network.node("Mul", name + "/scale",
                                       {means, network.filled(name + ".scale", channels, 1.0F)});
  return {network.node("Add", name + "/bias", {scaled, network.biases(name + ".bias", channels)}),
          x.channels};
}

/// Weights and biases of C18's networks: truncated N(0, 0.1), and 0.1.
constexpr double kDigitsDeviation = 0.1;
constexpr float kBias = 0.1F;

/// 5x5, SAME, ReLU, then the maximum of 2x2.
Image c18_stage(Layers& net, const std::string& name, const Image& x, std::int64_t out) {
  RandomNetwork& network = net.network();
  const TensorId weights =
      network.truncated(name + ".weight", {out, x.channels, 5, 5}, kDigitsDeviation);
  const TensorId biases = network.filled(name + ".bias", {out}, kBias);
  const TensorId sums = network.node(
      "Conv", name, {x.id, weights, biases},
      {{"kernel_shape", std::vector<std::int64_t>{5, 5}}, {"auto_pad", std::string("SAME_UPPER")}});
  return net.max_pool(name + "/pool", net.relu(name + "/relu", {sums, out}), 2, 2);
}

Image c18_dense(Layers& net, const std::string& name, const Image& x, std::int64_t out) {
  RandomNetwork& network = net.network();
  const TensorId weights = network.truncated(name + ".weight", {out, x.channels}, kDigitsDeviation);
  const TensorId biases = network.filled(name + ".bias", {out}, kBias);
  return {network.node("Gemm", name, {x.id, weights, biases}, {{"transB", std::int64_t{1}}}), out};
}

/// 3x3, normalized, ReLU, then the maximum of 2x2.
Image fashion_stage(Layers& net, const std::string& name, const Image& x, std::int64_t out) {
  const Image sums = net.conv(name, x, out, {.size = 3, .pad = 1});
  return net.max_pool(name + "/pool", net.relu(name + "/relu", net.batch_norm(name + "/bn", sums)),
                      2, 2);
}

/// The layers of models/lenet5.onnx from C1 to F6 with its names, each squashed by `squash`, an
/// operator.
Image lenet_features(Layers& net, const std::string& squash, const std::string& name) {
  const auto squashed = [&](const std::string& layer, const Image& x) {
    return net.apply(squash, layer + "/" + name, x);
  };
  Image x = net.input(1, 32);
  x = squashed("C1", net.conv_bias("C1", x, 6, {.size = 5}));
  x = squashed("S2", subsample(net, "S2", x));
  x = squashed("C3", net.conv_bias("C3", x, 16, {.size = 5}));
  x = squashed("S4", subsample(net, "S4", x));
  x = {net.apply("Flatten", "flatten", x).id, 400};
  x = squashed("F5", net.dense("F5", x, 120));
  return squashed("F6", net.dense("F6", x, 84));
}

}  // namespace

/// A small network with normalization for Fashion-MNIST's pictures.
Graph fashion_cnn(const Architecture& architecture, std::uint64_t seed) {
  Layers net(architecture, seed);
  Image x = net.input(1, 28);
  x = fashion_stage(net, "conv1", x, 32);
  x = fashion_stage(net, "conv2", x, 64);
  x = fashion_stage(net, "conv3", x, 128);
  x = {net.apply("Flatten", "flatten", x).id, 128 * 3 * 3};
  net.output_rows(net.dense("logits", x, 10, Gain::kLinear));
  return net.finish();
}

/// As models/lenet5.onnx.
Graph lenet5(const Architecture& architecture, std::uint64_t seed) {
  Layers net(architecture, seed);
  const Image x = lenet_features(net, "Tanh", "tanh");
  net.output_rows(net.apply("Softmax", "probabilities", net.dense("output", x, 10)));
  return net.finish();
}

/// R18's tables 5.1 and 5.2: sigmoids, and nothing behind F6.
Graph r18_lenet(const Architecture& architecture, std::uint64_t seed) {
  Layers net(architecture, seed);
  net.output_rows(lenet_features(net, "Sigmoid", "sigmoid"));
  return net.finish();
}

/// C18's network on MNIST, with the weights that it starts training from.
Graph c18_cnn(const Architecture& architecture, std::uint64_t seed) {
  Layers net(architecture, seed);
  Image x = net.input(1, 28);
  x = c18_stage(net, "conv1", x, 32);
  x = c18_stage(net, "conv2", x, 64);
  x = {net.apply("Flatten", "flatten", x).id, 64 * 7 * 7};
  x = net.relu("fc1/relu", c18_dense(net, "fc1", x, 1024));
  x = net.apply("Dropout", "dropout", x);
  net.output_rows(c18_dense(net, "logits", x, 10));
  return net.finish();
}

}  // namespace morton::graph
