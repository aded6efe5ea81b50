// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "graph/architectures.hpp"
#include "graph/random_network.hpp"

namespace morton::graph {

/// An image N x C x H x W, or its channels after the image is gone, while a network is written.
struct Image {
  TensorId id = kNoTensor;
  std::int64_t channels = 0;
};

/// One over the mean square of what an activation makes of normal numbers: the gain of weights that
/// read it (RandomNetwork::weights).
struct Gain {
  static constexpr double kLinear = 1.0;
  static constexpr double kRelu = 2.0;
  static constexpr double kTanh = 2.54;
  static constexpr double kSilu = 2.81;
  /// Of what a sigmoid near one half has scaled.
  static constexpr double kGate = 4.0;
};

/// How the filters of a convolution lie over its image.
struct Filter {
  std::int64_t size = 1;
  std::int64_t stride = 1;
  std::int64_t pad = 0;
  std::int64_t groups = 1;
  double gain = Gain::kRelu;
};

/// Writes networks of images layer by layer. Nodes have the names of the modules in torchvision or
/// the paper, parameters those names with ".weight", ".bias", ".running_mean", ...; batch and image
/// size are open ("batch", "height", "width").
class Layers {
 public:
  Layers(const Architecture& architecture, std::uint64_t seed, std::int64_t opset = 13);

  [[nodiscard]] RandomNetwork& network() { return network_; }
  /// The input "input" of open height and width.
  Image input(std::int64_t channels);
  /// Likewise of a fixed height and width.
  Image input(std::int64_t channels, std::int64_t size);

  /// A convolution without biases, and one with.
  Image conv(const std::string& name, const Image& x, std::int64_t out, const Filter& filter);
  Image conv_bias(const std::string& name, const Image& x, std::int64_t out, const Filter& filter);
  /// With statistics near mean 0 and variance 1, so that it neither kills nor blows up a signal;
  /// the scales lie around `scale`.
  Image batch_norm(const std::string& name, const Image& x, double scale = 1.0,
                   double epsilon = 1e-5);
  /// A node of one input that keeps the channels: Relu, MaxPool, ...
  Image apply(const std::string& op, const std::string& name, const Image& x,
              const std::map<std::string, Attribute>& attributes = {});
  Image relu(const std::string& name, const Image& x) { return apply("Relu", name, x); }
  /// Clip between 0 and 6, its bounds as inputs.
  Image relu6(const std::string& name, const Image& x);
  /// x * sigmoid(x), as two nodes.
  Image silu(const std::string& name, const Image& x);
  Image max_pool(const std::string& name, const Image& x, std::int64_t size, std::int64_t stride,
                 std::int64_t pad = 0);
  Image average_pool(const std::string& name, const Image& x, std::int64_t size);
  Image add(const std::string& name, const Image& a, const Image& b);
  /// Along the channels.
  Image concat(const std::string& name, const std::vector<Image>& parts);
  /// GlobalAveragePool, then Flatten.
  Image pool_to_rows(const std::string& name, const Image& x);
  /// Gemm with transB and biases.
  Image dense(const std::string& name, const Image& x, std::int64_t out, double gain = Gain::kRelu);

  /// `x` becomes the output: rows of N x channels, an image as large as the input's, or one whose
  /// extents have these names.
  void output_rows(const Image& x);
  void output_image(const Image& x, const std::string& height, const std::string& width);
  [[nodiscard]] Graph finish() const { return network_.finish(); }

 private:
  TensorId scalar(const std::string& name, float value);
  /// The weights of a convolution.
  TensorId filters(const std::string& name, const Image& x, std::int64_t out, const Filter& filter);

  RandomNetwork network_;
};

}  // namespace morton::graph
