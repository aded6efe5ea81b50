// SPDX-License-Identifier: Apache-2.0
//
// Networks of sequences: of rows of pixels, words, letters in a line of text, and sounds.
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "graph/architectures/layers.hpp"

namespace morton::graph {
namespace {

/// Steps x batch x width.
struct Steps {
  TensorId id = kNoTensor;
  std::int64_t width = 0;
};

struct Recurrent {
  std::string op;  ///< "LSTM" or "GRU"
  std::int64_t gates = 4;
  std::int64_t units = 128;
  std::int64_t directions = 1;
};
constexpr std::int64_t kGatesOfLstm = 4;
constexpr std::int64_t kGatesOfGru = 3;

/// Its outputs: all states, steps x directions x batch x units, and the last.
std::vector<TensorId> recurrent(RandomNetwork& network, const std::string& name, const Steps& x,
                                const Recurrent& sizes) {
  const std::int64_t rows = sizes.gates * sizes.units;
  const TensorId of_input = network.weights(name + ".weight_ih", {sizes.directions, rows, x.width},
                                            x.width, Gain::kLinear);
  const TensorId of_state = network.weights(
      name + ".weight_hh", {sizes.directions, rows, sizes.units}, sizes.units, Gain::kLinear);
  const TensorId biases = network.biases(name + ".bias", {sizes.directions, 2 * rows});
  std::map<std::string, Attribute> attributes{
      {"hidden_size", sizes.units},
      {"direction", std::string(sizes.directions == 2 ? "bidirectional" : "forward")}};
  // As PyTorch computes it.
  if (sizes.op == "GRU") attributes["linear_before_reset"] = std::int64_t{1};
  return network.node_of(2, sizes.op, name, {x.id, of_input, of_state, biases}, attributes);
}

/// All states, the directions side by side.
Steps states(RandomNetwork& network, const std::string& name, const Steps& x,
             const Recurrent& sizes) {
  const TensorId all = recurrent(network, name, x, sizes)[0];
  const std::int64_t width = sizes.directions * sizes.units;
  const TensorId beside = network.node("Transpose", name + "/Transpose", {all},
                                       {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  const TensorId shape = network.list(name + ".shape", {0, 0, width});
  return {network.node("Reshape", name + "/Reshape", {beside, shape}), width};
}

/// A product and biases for each step of each sequence.
TensorId dense_steps(RandomNetwork& network, const std::string& name, const Steps& x,
                     std::int64_t out) {
  const TensorId weights =
      network.weights(name + ".weight", {x.width, out}, x.width, Gain::kLinear);
  const TensorId sums = network.node("MatMul", name + "/MatMul", {x.id, weights});
  return network.node("Add", name, {sums, network.biases(name + ".bias", {out})});
}

TensorId transposed(RandomNetwork& network, const std::string& name, TensorId x,
                    const std::vector<std::int64_t>& order) {
  return network.node("Transpose", name, {x}, {{"perm", order}});
}

/// One of CRNN's: 3x3, normalized or with biases, ReLU.
Image crnn_stage(Layers& net, int number, const Image& x, std::int64_t out, bool normalized) {
  const std::string name = "conv" + std::to_string(number);
  const Filter filter{.size = 3, .pad = 1};
  const Image sums = normalized ? net.batch_norm(name + "/bn", net.conv(name, x, out, filter))
                                : net.conv_bias(name, x, out, filter);
  return net.relu(name + "/relu", sums);
}

/// The largest of 2 rows and `columns` columns, column after column: 2 x 1 halves the height alone.
Image crnn_pool(Layers& net, int number, const Image& x, std::int64_t columns) {
  return net.apply("MaxPool", "pool" + std::to_string(number), x,
                   {{"kernel_shape", std::vector<std::int64_t>{2, columns}},
                    {"strides", std::vector<std::int64_t>{2, columns}}});
}

}  // namespace

/// A picture's 28 rows of 28 pixels as a sequence, as Q. Le et al., *A simple way to initialize
/// recurrent networks of rectified linear units* (2015), have pixels.
Graph lstm_rows(const Architecture& architecture, std::uint64_t seed) {
  constexpr std::int64_t kUnits = 128;
  Layers net(architecture, seed);
  RandomNetwork& network = net.network();
  const Image picture = net.input(1, 28);
  const TensorId rows =
      network.node("Squeeze", "rows", {picture.id, network.list("rows.axis", {1})});
  const Steps steps{transposed(network, "steps", rows, {1, 0, 2}), 28};
  const TensorId last = recurrent(network, "lstm", steps, {"LSTM", kGatesOfLstm, kUnits, 1})[1];
  const TensorId state = network.node("Squeeze", "state", {last, network.list("state.axis", {0})});
  net.output_rows(net.dense("logits", {state, kUnits}, 10, Gain::kLinear));
  return net.finish();
}

/// Z. Huang et al., *Bidirectional LSTM-CRF models for sequence tagging* (2015), without the CRF:
/// 17 parts of speech for each word.
Graph lstm_tagger(const Architecture& architecture, std::uint64_t seed) {
  constexpr std::int64_t kWords = 20000;
  constexpr std::int64_t kWidth = 100;
  constexpr std::int64_t kTags = 17;
  RandomNetwork network(std::string(architecture.name), seed, 17);
  const TensorId words = network.input("input_ids", {{0, "batch"}, {0, "sequence"}}, DType::i64);
  const TensorId table = network.normal("embedding.weight", {kWords, kWidth}, 0.0, 1.0);
  const TensorId found = network.node("Gather", "embedding", {table, words});
  const Steps steps{transposed(network, "steps", found, {1, 0, 2}), kWidth};
  const Steps all = states(network, "lstm", steps, {"LSTM", kGatesOfLstm, 128, 2});
  const TensorId scores = dense_steps(network, "tags", all, kTags);
  const TensorId result = transposed(network, "scores", scores, {1, 0, 2});
  network.output(result, {{0, "batch"}, {0, "sequence"}, {kTags, ""}});
  return network.finish();
}

/// B. Shi et al., *An end-to-end trainable neural network for image-based sequence recognition*
/// (2015), table 1: 36 letters and the blank for each place along a line of text.
Graph crnn(const Architecture& architecture, std::uint64_t seed) {
  constexpr std::int64_t kLetters = 37;
  Layers net(architecture, seed);
  RandomNetwork& network = net.network();
  Image x{network.input("input", {{0, "batch"}, {1, ""}, {32, ""}, {0, "width"}}), 1};
  x = crnn_pool(net, 1, crnn_stage(net, 1, x, 64, false), 2);
  x = crnn_pool(net, 2, crnn_stage(net, 2, x, 128, false), 2);
  x = crnn_stage(net, 3, x, 256, false);
  x = crnn_pool(net, 4, crnn_stage(net, 4, x, 256, false), 1);
  x = crnn_stage(net, 5, x, 512, true);
  x = crnn_pool(net, 6, crnn_stage(net, 6, x, 512, true), 1);
  x = net.relu("conv7/relu", net.conv_bias("conv7", x, 512, {.size = 2}));
  const TensorId line = network.node("Squeeze", "line", {x.id, network.list("line.axis", {2})});
  Steps steps{transposed(network, "steps", line, {2, 0, 1}), x.channels};
  const Recurrent sizes{"LSTM", kGatesOfLstm, 256, 2};
  steps = states(network, "lstm1", steps, sizes);
  steps = {dense_steps(network, "between", steps, 256), 256};
  steps = states(network, "lstm2", steps, sizes);
  network.output(dense_steps(network, "letters", steps, kLetters),
                 {{0, "steps"}, {0, "batch"}, {kLetters, ""}});
  return net.finish();
}

/// D. Amodei et al., *Deep Speech 2* (2015), made small: two convolutions over 80 bands of sound
/// and time, three layers of bidirectional GRUs, 28 letters and the blank for every second frame.
Graph gru_speech(const Architecture& architecture, std::uint64_t seed) {
  constexpr std::int64_t kLetters = 29;
  constexpr std::int64_t kBands = 80;
  Layers net(architecture, seed);
  RandomNetwork& network = net.network();
  Image x{network.input("input", {{0, "batch"}, {1, ""}, {kBands, ""}, {0, "frames"}}), 1};
  x = net.relu(
      "conv1/relu",
      net.batch_norm("conv1/bn", net.conv("conv1", x, 32, {.size = 5, .stride = 2, .pad = 2})));
  const TensorId weights =
      network.weights("conv2.weight", {32, 32, 5, 5}, std::int64_t{32} * 5 * 5);
  const TensorId sums = network.node("Conv", "conv2", {x.id, weights},
                                     {{"kernel_shape", std::vector<std::int64_t>{5, 5}},
                                      {"pads", std::vector<std::int64_t>{2, 2, 2, 2}},
                                      {"strides", std::vector<std::int64_t>{2, 1}}});
  x = net.relu("conv2/relu", net.batch_norm("conv2/bn", {sums, 32}));
  // Channels and bands of a frame side by side.
  constexpr std::int64_t kWidth = std::int64_t{32} * (kBands / 4);
  const TensorId frames = transposed(network, "frames", x.id, {3, 0, 1, 2});
  const TensorId shape = network.list("steps.shape", {0, 0, kWidth});
  Steps steps{network.node("Reshape", "steps", {frames, shape}), kWidth};
  for (int layer = 1; layer <= 3; ++layer) {
    steps = states(network, "gru" + std::to_string(layer), steps, {"GRU", kGatesOfGru, 256, 2});
  }
  network.output(dense_steps(network, "letters", steps, kLetters),
                 {{0, "steps"}, {0, "batch"}, {kLetters, ""}});
  return net.finish();
}

}  // namespace morton::graph
