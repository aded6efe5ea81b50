// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include "base/rooms.hpp"
#include "graph/architectures.hpp"
#include "graph/random_network.hpp"

namespace morton::graph {
namespace {

constexpr std::int64_t kGptWords = 50257;
constexpr std::int64_t kGptPositions = 1024;
constexpr std::int64_t kGptLayers = 12;
constexpr std::int64_t kGptWidth = 768;
constexpr std::int64_t kGptHeads = 12;
constexpr std::int64_t kGptHeadWidth = kGptWidth / kGptHeads;
/// Of all weights, as GPT-2 begins its training.
constexpr double kGptDeviation = 0.02;

/// Writes a network that reads a word, beside the keys and values of all words before it, and gives
/// the next. Nodes and parameters have the names of the modules in Hugging Face's GPT2LMHeadModel.
class Gpt2 {
 public:
  Gpt2(const Architecture& architecture, std::uint64_t seed)
      : network_(std::string(architecture.name), seed, 17) {}

  Graph build() {
    const TensorId word = network_.input("input_ids", {{0, "batch"}, {1, ""}}, DType::i64);
    for (std::int64_t l = 0; l < kGptLayers; ++l) {
      past_keys_.push_back(past("past_key_" + std::to_string(l)));
      past_values_.push_back(past("past_value_" + std::to_string(l)));
    }
    const TensorId table = network_.truncated("wte.weight", {kGptWords, kGptWidth}, kGptDeviation);
    TensorId x = network_.node("Gather", "wte", {table, word});
    x = network_.node("Add", "embedding", {x, position()});
    for (std::int64_t l = 0; l < kGptLayers; ++l) x = layer(l, x);
    x = normalize("ln_f", x);
    const TensorId flat = network_.list("lm_head.shape", {-1, kGptWidth});
    x = network_.node("Reshape", "lm_head/Reshape", {x, flat});
    const TensorId logits =
        network_.node("Gemm", "logits", {x, table}, {{"transB", std::int64_t{1}}});
    const TensorId next = network_.node("ArgMax", "next", {logits}, {{"axis", std::int64_t{1}}});
    network_.output(logits, {{0, "batch"}, {kGptWords, ""}});
    network_.output(next, {{0, "batch"}, {1, ""}}, DType::i64);
    for (const TensorId id : present_) {
      network_.output(id, {{0, "batch"}, {kGptHeads, ""}, {0, "words"}, {kGptHeadWidth, ""}});
    }
    return network_.finish();
  }

 private:
  TensorId past(const std::string& name) {
    return network_.input(name,
                          {{0, "batch"}, {kGptHeads, ""}, {0, "past_words"}, {kGptHeadWidth, ""}});
  }

  /// The row of the table of positions that follows those that are past.
  TensorId position() {
    const TensorId shape = network_.node("Shape", "wpe/Shape", {past_keys_.front()});
    const TensorId third = network_.list("wpe.third", {2});
    const TensorId place = network_.node("Gather", "wpe/Gather", {shape, third});
    const TensorId table =
        network_.truncated("wpe.weight", {kGptPositions, kGptWidth}, kGptDeviation);
    return network_.node("Gather", "wpe", {table, place});
  }

  TensorId normalize(const std::string& name, TensorId x) {
    const TensorId scale = network_.normal(name + ".weight", {kGptWidth}, 1.0, 0.1);
    const TensorId shift = network_.biases(name + ".bias", {kGptWidth});
    return network_.node("LayerNormalization", name, {x, scale, shift}, {{"epsilon", 1e-5}});
  }

  TensorId dense(const std::string& name, TensorId x, std::int64_t in, std::int64_t out) {
    const TensorId weights = network_.truncated(name + ".weight", {in, out}, kGptDeviation);
    const TensorId biases = network_.biases(name + ".bias", {out});
    return network_.node("Add", name,
                         {network_.node("MatMul", name + "/MatMul", {x, weights}), biases});
  }

  TensorId transposed(const std::string& name, TensorId x, const std::vector<std::int64_t>& order) {
    return network_.node("Transpose", name, {x}, {{"perm", order}});
  }

  /// What is past, and the word's own behind it.
  TensorId gathered(const std::string& name, TensorId past, TensorId own) {
    present_.push_back(network_.node("Concat", name, {past, own}, {{"axis", std::int64_t{2}}}));
    return present_.back();
  }

  TensorId attend(const std::string& name, std::int64_t l, TensorId x) {
    const TensorId all = dense(name + ".c_attn", x, kGptWidth, 3 * kGptWidth);
    const TensorId sizes = network_.list(name + ".sizes", {kGptWidth, kGptWidth, kGptWidth});
    std::vector<TensorId> parts =
        network_.node_of(3, "Split", name + "/Split", {all, sizes}, {{"axis", std::int64_t{2}}});
    const TensorId shape = network_.list(name + ".heads", {0, 0, kGptHeads, kGptHeadWidth});
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const std::string part = name + "/part_" + std::to_string(p);
      parts[p] = network_.node("Reshape", part + "/Reshape", {parts[p], shape});
      parts[p] = transposed(part + "/Transpose", parts[p], {0, 2, 1, 3});
    }
    const auto at = static_cast<std::size_t>(l);
    const std::string number = std::to_string(l);
    const TensorId key = gathered("present_key_" + number, past_keys_[at], parts[1]);
    const TensorId value = gathered("present_value_" + number, past_values_[at], parts[2]);
    const TensorId turned = transposed(name + "/Transpose", key, {0, 1, 3, 2});
    TensorId scores = network_.node("MatMul", name + "/MatMul", {parts[0], turned});
    const TensorId root =
        network_.filled(name + ".root", {}, std::sqrt(static_cast<float>(kGptHeadWidth)));
    scores = network_.node("Div", name + "/Div", {scores, root});
    scores = network_.node("Softmax", name + "/Softmax", {scores}, {{"axis", std::int64_t{-1}}});
    TensorId mixed = network_.node("MatMul", name + "/MatMul_1", {scores, value});
    mixed = transposed(name + "/Transpose_1", mixed, {0, 2, 1, 3});
    const TensorId flat = network_.list(name + ".flat", {0, 0, kGptWidth});
    mixed = network_.node("Reshape", name + "/Reshape", {mixed, flat});
    return dense(name + ".c_proj", mixed, kGptWidth, kGptWidth);
  }

  /// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, as OpenAI's code has it.
  TensorId gelu(const std::string& name, TensorId x) {
    const auto number = [&](const char* what, double value) {
      return network_.filled(name + "." + what, {}, static_cast<float>(value));
    };
    TensorId y = network_.node("Mul", name + "/Mul", {x, x});
    y = network_.node("Mul", name + "/Mul_1", {y, x});
    y = network_.node("Mul", name + "/Mul_2", {y, number("cube", 0.044715)});
    y = network_.node("Add", name + "/Add", {x, y});
    y = network_.node("Mul", name + "/Mul_3",
                      {y, number("root", std::sqrt(2.0 / 3.14159265358979))});
    y = network_.node("Tanh", name + "/Tanh", {y});
    y = network_.node("Add", name + "/Add_1", {y, number("one", 1.0)});
    y = network_.node("Mul", name + "/Mul_4", {x, y});
    return network_.node("Mul", name + "/Mul_5", {y, number("half", 0.5)});
  }

  TensorId layer(std::int64_t l, TensorId x) {
    const std::string name = "h." + std::to_string(l);
    TensorId y = attend(name + ".attn", l, normalize(name + ".ln_1", x));
    x = network_.node("Add", name + "/Add", {y, x});
    y = dense(name + ".mlp.c_fc", normalize(name + ".ln_2", x), kGptWidth, 4 * kGptWidth);
    y = dense(name + ".mlp.c_proj", gelu(name + ".mlp.act", y), 4 * kGptWidth, kGptWidth);
    return network_.node("Add", name + "/Add_1", {y, x});
  }

  RandomNetwork network_;
  std::vector<TensorId> past_keys_, past_values_, present_;
};

}  // namespace

/// A. Radford et al., *Language Models are Unsupervised Multitask Learners* (2019), the smallest,
/// of 124 million parameters.
Graph gpt2(const Architecture& architecture, std::uint64_t seed) {
  return Gpt2(architecture, seed).build();
}

}  // namespace morton::graph
