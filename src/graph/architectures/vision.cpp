// SPDX-License-Identifier: Apache-2.0
//
// A transformer of images, and a U-Net of volumes.
#include <cmath>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "graph/architectures/layers.hpp"

namespace morton::graph {
namespace {

constexpr std::int64_t kWidth = 768;
constexpr std::int64_t kHeads = 12;
constexpr std::int64_t kInner = 3072;
constexpr std::int64_t kPatch = 16;
constexpr std::int64_t kPatches = (224 / kPatch) * (224 / kPatch);
/// Of all weights, as ViT's training begins.
constexpr double kVitDeviation = 0.02;

/// Writes ViT with the names of the modules in torchvision.
class Vit {
 public:
  explicit Vit(Layers& layers) : layers_(layers), network_(layers.network()) {}

  Image build() {
    const Image patches =
        layers_.conv_bias("conv_proj", layers_.input(3, 224), kWidth,
                          {.size = kPatch, .stride = kPatch, .gain = Gain::kLinear});
    const TensorId rows =
        network_.node("Reshape", "patches/Reshape",
                      {patches.id, network_.list("patches.shape", {0, kWidth, -1})});
    TensorId x = transposed("patches", rows, {0, 2, 1});
    x = network_.node("Concat", "tokens", {class_token(x), x}, {{"axis", std::int64_t{1}}});
    const TensorId places =
        network_.truncated("encoder.pos_embedding", {1, kPatches + 1, kWidth}, kVitDeviation);
    x = network_.node("Add", "encoder/Add", {x, places});
    for (int l = 0; l < 12; ++l) {
      x = layer("encoder.layers.encoder_layer_" + std::to_string(l), x);
    }
    x = normalize("encoder.ln", x);
    const TensorId first = network_.node("Gather", "class", {x, network_.index("class.index", 0)},
                                         {{"axis", std::int64_t{1}}});
    return layers_.dense("heads.head", {first, kWidth}, 1000, Gain::kLinear);
  }

 private:
  TensorId transposed(const std::string& name, TensorId x, const std::vector<std::int64_t>& order) {
    return network_.node("Transpose", name, {x}, {{"perm", order}});
  }

  /// The learned token once for each image of `x`.
  TensorId class_token(TensorId x) {
    const TensorId shape = network_.node("Shape", "class_token/Shape", {x});
    const TensorId batch = network_.node("Gather", "class_token/Gather",
                                         {shape, network_.list("class_token.first", {0})});
    const TensorId wanted = network_.node("Concat", "class_token/Concat",
                                          {batch, network_.list("class_token.rest", {1, kWidth})},
                                          {{"axis", std::int64_t{0}}});
    const TensorId token = network_.truncated("class_token.weight", {1, 1, kWidth}, kVitDeviation);
    return network_.node("Expand", "class_token", {token, wanted});
  }

  TensorId normalize(const std::string& name, TensorId x) {
    const TensorId scale = network_.normal(name + ".weight", {kWidth}, 1.0, 0.1);
    const TensorId shift = network_.biases(name + ".bias", {kWidth});
    return network_.node("LayerNormalization", name, {x, scale, shift}, {{"epsilon", 1e-6}});
  }

  TensorId dense(const std::string& name, TensorId x, std::int64_t in, std::int64_t out) {
    const TensorId weights = network_.truncated(name + ".weight", {in, out}, kVitDeviation);
    const TensorId sums = network_.node("MatMul", name + "/MatMul", {x, weights});
    return network_.node("Add", name, {sums, network_.biases(name + ".bias", {out})});
  }

  /// Images x heads x tokens x size, in this order.
  TensorId heads(const std::string& name, TensorId x, const std::vector<std::int64_t>& order) {
    const TensorId apart =
        network_.node("Reshape", name + "/Reshape",
                      {dense(name, x, kWidth, kWidth),
                       network_.list(name + ".shape", {0, 0, kHeads, kWidth / kHeads})});
    return transposed(name + "/Transpose", apart, order);
  }

  TensorId attend(const std::string& name, TensorId x) {
    const TensorId query = heads(name + ".query", x, {0, 2, 1, 3});
    const TensorId key = heads(name + ".key", x, {0, 2, 3, 1});
    const TensorId value = heads(name + ".value", x, {0, 2, 1, 3});
    TensorId scores = network_.node("MatMul", name + "/MatMul", {query, key});
    const TensorId scale =
        network_.filled(name + ".scale", {}, 1.0F / std::sqrt(static_cast<float>(kWidth / kHeads)));
    scores = network_.node("Mul", name + "/Mul", {scores, scale});
    scores = network_.node("Softmax", name + "/Softmax", {scores}, {{"axis", std::int64_t{-1}}});
    const TensorId mixed =
        transposed(name + "/Transpose",
                   network_.node("MatMul", name + "/MatMul_1", {scores, value}), {0, 2, 1, 3});
    const TensorId joined = network_.node("Reshape", name + "/Reshape",
                                          {mixed, network_.list(name + ".shape", {0, 0, kWidth})});
    return dense(name + ".out_proj", joined, kWidth, kWidth);
  }

  TensorId layer(const std::string& name, TensorId x) {
    x = network_.node("Add", name + "/Add",
                      {x, attend(name + ".self_attention", normalize(name + ".ln_1", x))});
    TensorId inner = dense(name + ".mlp.0", normalize(name + ".ln_2", x), kWidth, kInner);
    inner = network_.node("Gelu", name + ".mlp.1", {inner});
    return network_.node("Add", name + "/Add_1",
                         {x, dense(name + ".mlp.3", inner, kInner, kWidth)});
  }

  Layers& layers_;
  RandomNetwork& network_;
};

/// Writes 3-D U-Net: 3x3x3 convolutions with normalization and ReLU, pools of 2x2x2.
class VolumeNet {
 public:
  explicit VolumeNet(RandomNetwork& network) : network_(network) {}

  Image twice(const std::string& name, const Image& x, std::int64_t between, std::int64_t out) {
    return conv(name + ".1", conv(name + ".0", x, between), out);
  }
  Image halved(const std::string& name, const Image& x) {
    return {network_.node("MaxPool", name, {x.id}, {{"kernel_shape", kTwo}, {"strides", kTwo}}),
            x.channels};
  }
  /// Doubled by a transposed convolution, beside what the way down left there.
  Image doubled(const std::string& name, const Image& x, const Image& beside) {
    const TensorId weights =
        network_.weights(name + ".weight", {x.channels, x.channels, 2, 2, 2}, x.channels);
    const TensorId biases = network_.biases(name + ".bias", {x.channels});
    const TensorId up = network_.node("ConvTranspose", name, {x.id, weights, biases},
                                      {{"kernel_shape", kTwo}, {"strides", kTwo}});
    return {network_.node("Concat", name + "/Concat", {up, beside.id}, {{"axis", std::int64_t{1}}}),
            x.channels + beside.channels};
  }
  Image point(const std::string& name, const Image& x, std::int64_t out) {
    const TensorId weights =
        network_.weights(name + ".weight", {out, x.channels, 1, 1, 1}, x.channels, Gain::kLinear);
    return {network_.node("Conv", name, {x.id, weights, network_.biases(name + ".bias", {out})},
                          {{"kernel_shape", std::vector<std::int64_t>{1, 1, 1}}}),
            out};
  }

 private:
  Image conv(const std::string& name, const Image& x, std::int64_t out) {
    const TensorId weights =
        network_.weights(name + ".weight", {out, x.channels, 3, 3, 3}, 27 * x.channels);
    const TensorId sums = network_.node("Conv", name, {x.id, weights},
                                        {{"kernel_shape", std::vector<std::int64_t>{3, 3, 3}},
                                         {"pads", std::vector<std::int64_t>{1, 1, 1, 1, 1, 1}}});
    const Shape channels{out};
    const TensorId normal =
        network_.node("BatchNormalization", name + "/bn",
                      {sums, network_.normal(name + ".bn.weight", channels, 1.0, 0.1),
                       network_.biases(name + ".bn.bias", channels),
                       network_.biases(name + ".bn.running_mean", channels),
                       network_.positive(name + ".bn.running_var", channels, 0.1)});
    return {network_.node("Relu", name + "/relu", {normal}), out};
  }

  static inline const std::vector<std::int64_t> kTwo{2, 2, 2};
  RandomNetwork& network_;
};

}  // namespace

/// A. Dosovitskiy et al., *An image is worth 16x16 words* (2020), the base model.
Graph vit_b16(const Architecture& architecture, std::uint64_t seed) {
  Layers net(architecture, seed, 20);
  net.output_rows(Vit(net).build());
  return net.finish();
}

/// O. Cicek et al., *3D U-Net* (2016), padded, with three steps down: 3 classes for each place.
Graph unet3d(const Architecture& architecture, std::uint64_t seed) {
  RandomNetwork network(std::string(architecture.name), seed);
  VolumeNet net(network);
  const std::vector<Dimension> places{{0, "depth"}, {0, "height"}, {0, "width"}};
  std::vector<Dimension> extents{{0, "batch"}, {1, ""}};
  extents.insert(extents.end(), places.begin(), places.end());
  const Image first = net.twice("down1", {network.input("input", extents), 1}, 32, 64);
  const Image second = net.twice("down2", net.halved("pool1", first), 64, 128);
  const Image third = net.twice("down3", net.halved("pool2", second), 128, 256);
  Image x = net.twice("bottom", net.halved("pool3", third), 256, 512);
  x = net.twice("up3", net.doubled("rise3", x, third), 256, 256);
  x = net.twice("up2", net.doubled("rise2", x, second), 128, 128);
  x = net.twice("up1", net.doubled("rise1", x, first), 64, 64);
  extents[1] = {3, ""};
  network.output(net.point("classes", x, 3).id, extents);
  return network.finish();
}

}  // namespace morton::graph
