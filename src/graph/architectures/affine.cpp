// SPDX-License-Identifier: Apache-2.0
#include <span>
#include <string>

#include "base/rooms.hpp"
#include "graph/architectures/layers.hpp"

namespace morton::graph {
namespace {

const Dimension kAffineBatch{0, "batch"};

/// Affine layers of these widths, inputs as columns, `op` behind each but the last: what R17's
/// network definition can say, in its reader's terms.
Graph columns_network(const Architecture& architecture, std::uint64_t seed,
                      std::span<const std::int64_t> widths, const std::string& op) {
  RandomNetwork network(std::string(architecture.name), seed);
  TensorId x = network.input("input", {{widths[0], ""}, kAffineBatch});
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
  network.output(x, {{widths.back(), ""}, kAffineBatch});
  return network.finish();
}

}  // namespace

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

/// Without activations between the layers, and from weights and biases of N(0,1), as C18 trains it
/// (its section V.C). They begin far from a solution: He's scheme would learn faster.
Graph c18_mlp(const Architecture& architecture, std::uint64_t seed) {
  RandomNetwork network(std::string(architecture.name), seed);
  TensorId x = network.input("input", {kAffineBatch, {784, ""}});
  std::int64_t width = 784;
  for (const auto& [name, out] :
       {std::pair{"hidden_1", 50}, std::pair{"hidden_2", 50}, std::pair{"logits", 10}}) {
    const std::string layer = name;
    const TensorId weights = network.normal(layer + ".weight", {out, width}, 0.0, 1.0);
    const TensorId biases = network.normal(layer + ".bias", {out}, 0.0, 1.0);
    x = network.node("Gemm", layer, {x, weights, biases}, {{"transB", std::int64_t{1}}});
    width = out;
  }
  network.output(x, {kAffineBatch, {width, ""}});
  return network.finish();
}

}  // namespace morton::graph
