// SPDX-License-Identifier: Apache-2.0
#include "graph/architectures.hpp"

#include <string>

#include "base/error.hpp"
#include "graph/random_network.hpp"

namespace morton {
namespace {

const Dimension kBatch{0, "batch"};

/// Affine layers of these widths, inputs as columns, `op` behind each but the last: what R17's
/// network definition can say, in its reader's terms.
Graph columns_network(const Architecture& architecture, std::uint64_t seed,
                      std::span<const std::int64_t> widths, const std::string& op) {
  RandomNetwork network(std::string(architecture.name), seed);
  TensorId x = network.input("input", {{widths[0], ""}, kBatch});
  for (std::size_t i = 1; i < widths.size(); ++i) {
    const bool last = i + 1 == widths.size();
    const std::string name = "affine_" + std::to_string(i);
    const TensorId weights =
        network.weights(name + ".weights", {widths[i], widths[i - 1]}, widths[i - 1]);
    const TensorId biases = network.biases(name + ".biases", {widths[i], 1});
    x = network.node("MatMul", name + ".product", {weights, x});
    x = network.node("Add", last ? "output" : name, {x, biases});
    if (!last) x = network.node(op, op + "_" + std::to_string(i), {x});
  }
  network.output(x, {{widths.back(), ""}, kBatch});
  return network.finish();
}

Graph r17_digits(const Architecture& architecture, std::uint64_t seed) {
  static constexpr std::int64_t kWidths[] = {784, 100, 100, 10};
  return columns_network(architecture, seed, kWidths, "Sigmoid");
}

Graph r17_2500(const Architecture& architecture, std::uint64_t seed) {
  static constexpr std::int64_t kWidths[] = {784, 2500, 2000, 10};
  return columns_network(architecture, seed, kWidths, "Relu");
}

Graph r17_cifar(const Architecture& architecture, std::uint64_t seed) {
  static constexpr std::int64_t kWidths[] = {3072, 4096, 3072, 10};
  return columns_network(architecture, seed, kWidths, "Relu");
}

Graph r17_640(const Architecture& architecture, std::uint64_t seed) {
  static constexpr std::int64_t kWidths[] = {640, 150, 10};
  return columns_network(architecture, seed, kWidths, "Relu");
}

Graph r17_256(const Architecture& architecture, std::uint64_t seed) {
  static constexpr std::int64_t kWidths[] = {256, 128, 10};
  return columns_network(architecture, seed, kWidths, "Relu");
}

/// Gemm with transB and biases.
TensorId dense(RandomNetwork& network, const std::string& name, TensorId x, std::int64_t in,
               std::int64_t out) {
  const TensorId weights = network.weights(name + ".weight", {out, in}, in);
  const TensorId biases = network.biases(name + ".bias", {out});
  return network.node("Gemm", name, {x, weights, biases}, {{"transB", std::int64_t{1}}});
}

/// Without activations between the layers, as C18 trains it (section on its MLP).
Graph c18_mlp(const Architecture& architecture, std::uint64_t seed) {
  RandomNetwork network(std::string(architecture.name), seed);
  TensorId x = network.input("input", {kBatch, {784, ""}});
  x = dense(network, "hidden_1", x, 784, 50);
  x = dense(network, "hidden_2", x, 50, 50);
  x = dense(network, "logits", x, 50, 10);
  network.output(x, {kBatch, {10, ""}});
  return network.finish();
}

TensorId conv(RandomNetwork& network, const std::string& name, TensorId x, std::int64_t in,
              std::int64_t out, std::int64_t size) {
  const TensorId weights =
      network.weights(name + ".weight", {out, in, size, size}, in * size * size);
  return network.node("Conv", name, {x, weights, network.biases(name + ".bias", {out})});
}

/// LeNet-5's subsampling: mean of 2x2, then one scale and one bias for each channel.
TensorId subsample(RandomNetwork& network, const std::string& name, TensorId x,
                   std::int64_t channels) {
  const std::vector<std::int64_t> two{2, 2};
  x = network.node("AveragePool", name + "/pool", {x}, {{"kernel_shape", two}, {"strides", two}});
  x = network.node("Mul", name + "/scale",
                   {x, network.filled(name + ".scale", {channels, 1, 1}, 1)});
  return network.node("Add", name + "/bias", {x, network.biases(name + ".bias", {channels, 1, 1})});
}

/// The layers and names of models/lenet5.onnx.
Graph lenet5(const Architecture& architecture, std::uint64_t seed) {
  RandomNetwork network(std::string(architecture.name), seed);
  const auto tanh = [&](const std::string& name, TensorId x) {
    return network.node("Tanh", name + "/tanh", {x});
  };
  TensorId x = network.input("input", {kBatch, {1, ""}, {32, ""}, {32, ""}});
  x = tanh("C1", conv(network, "C1", x, 1, 6, 5));
  x = tanh("S2", subsample(network, "S2", x, 6));
  x = tanh("C3", conv(network, "C3", x, 6, 16, 5));
  x = tanh("S4", subsample(network, "S4", x, 16));
  x = network.node("Flatten", "flatten", {x});
  x = tanh("F5", dense(network, "F5", x, 400, 120));
  x = tanh("F6", dense(network, "F6", x, 120, 84));
  x = network.node("Softmax", "probabilities", {dense(network, "output", x, 84, 10)});
  network.output(x, {kBatch, {10, ""}});
  return network.finish();
}

constexpr Architecture kArchitectures[] = {
    {"r17-digits", "784-100-100-10, sigmoid; digits (R17, chapter 6); inputs as columns",
     r17_digits},
    {"r17-2500", "784-2500-2000-10, ReLU; digits (R17, table 10.1); inputs as columns", r17_2500},
    {"r17-cifar", "3072-4096-3072-10, ReLU; CIFAR (R17, table 10.2); inputs as columns", r17_cifar},
    {"r17-640", "640-150-10, ReLU; the end of a CNN (R17, table 10.3); inputs as columns", r17_640},
    {"r17-256", "256-128-10, ReLU; the end of a CNN (R17, table 10.4); inputs as columns", r17_256},
    {"c18-mlp", "784-50-50-10 without activations; digits (C18); inputs as rows", c18_mlp},
    {"lenet5", "LeNet-5 as models/lenet5.onnx has it; digits of 32x32", lenet5},
};

}  // namespace

std::span<const Architecture> all_architectures() { return kArchitectures; }

const Architecture& find_architecture(std::string_view name) {
  std::string known;
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.name == name) return architecture;
    known += (known.empty() ? "" : ", ") + std::string(architecture.name);
  }
  throw UsageError("there is no architecture '" + std::string(name) + "' (known: " + known + ")");
}

Graph build(const Architecture& architecture, std::uint64_t seed) {
  return architecture.build(architecture, seed);
}

}  // namespace morton
