// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include "base/rooms.hpp"
#include "graph/architectures.hpp"
#include "graph/random_network.hpp"

namespace morton::graph {
namespace {

struct BertSizes {
  std::int64_t layers, width, heads, inner;
};
constexpr std::int64_t kBertWords = 30522;
constexpr std::int64_t kBertPositions = 512;
/// Of all weights, as BERT begins its training.
constexpr double kBertDeviation = 0.02;

/// Writes an encoder of text as PyTorch's exporter has it: nodes and parameters have the names of
/// the modules in Hugging Face's BertModel.
class Bert {
 public:
  Bert(const Architecture& architecture, std::uint64_t seed, const BertSizes& sizes)
      : network_(std::string(architecture.name), seed, 17), sizes_(sizes) {}

  Graph build() {
    const std::vector<Dimension> tokens{{0, "batch"}, {0, "sequence"}};
    const TensorId words = network_.input("input_ids", tokens, DType::i64);
    const TensorId mask = network_.input("attention_mask", tokens, DType::i64);
    const TensorId types = network_.input("token_type_ids", tokens, DType::i64);
    bias_ = mask_bias(mask);
    TensorId x = embed(words, types);
    for (std::int64_t l = 0; l < sizes_.layers; ++l) {
      x = layer("encoder.layer." + std::to_string(l), x);
    }
    x = network_.node("Identity", "last_hidden_state", {x});
    network_.output(x, {{0, "batch"}, {0, "sequence"}, {sizes_.width, ""}});
    return network_.finish();
  }

 private:
  /// 0 where the mask is 1, and the least f32 that a sum of scores can bear where it is 0.
  TensorId mask_bias(TensorId mask) {
    const TensorId axes = network_.list("attention_mask.axes", {1, 2});
    TensorId x = network_.node("Unsqueeze", "attention_mask/Unsqueeze", {mask, axes});
    x = network_.node("Cast", "attention_mask/Cast", {x}, {{"to", std::int64_t{1}}});
    const TensorId one = network_.filled("attention_mask.one", {}, 1.0F);
    x = network_.node("Sub", "attention_mask/Sub", {one, x});
    const TensorId least = network_.filled("attention_mask.least", {}, -1e30F);
    return network_.node("Mul", "attention_mask/Mul", {x, least});
  }

  TensorId embed(TensorId words, TensorId types) {
    const std::string name = "embeddings";
    const TensorId word = look_up(name + ".word_embeddings", kBertWords, words);
    const TensorId type = look_up(name + ".token_type_embeddings", 2, types);
    // The first rows of the table of positions, as many as there are words.
    const TensorId shape = network_.node("Shape", name + "/Shape", {words});
    const TensorId second = network_.list(name + ".second", {1});
    const TensorId length = network_.node("Gather", name + "/Gather", {shape, second});
    const TensorId zero = network_.list(name + ".zero", {0});
    const TensorId table = network_.truncated(name + ".position_embeddings.weight",
                                              {kBertPositions, sizes_.width}, kBertDeviation);
    const TensorId position =
        network_.node("Slice", name + ".position_embeddings", {table, zero, length, zero});
    TensorId x = network_.node("Add", name + "/Add", {word, type});
    x = network_.node("Add", name + "/Add_1", {x, position});
    return normalize(name + ".LayerNorm", x);
  }

  TensorId look_up(const std::string& name, std::int64_t rows, TensorId ids) {
    const TensorId table =
        network_.truncated(name + ".weight", {rows, sizes_.width}, kBertDeviation);
    return network_.node("Gather", name, {table, ids});
  }

  TensorId normalize(const std::string& name, TensorId x) {
    const TensorId scale = network_.normal(name + ".weight", {sizes_.width}, 1.0, 0.1);
    const TensorId shift = network_.biases(name + ".bias", {sizes_.width});
    return network_.node("LayerNormalization", name, {x, scale, shift}, {{"epsilon", 1e-12}});
  }

  TensorId dense(const std::string& name, TensorId x, std::int64_t in, std::int64_t out) {
    const TensorId weights = network_.truncated(name + ".weight", {in, out}, kBertDeviation);
    const TensorId biases = network_.biases(name + ".bias", {out});
    return network_.node("Add", name,
                         {biases, network_.node("MatMul", name + "/MatMul", {x, weights})});
  }

  /// batch x words x width as batch x heads x words x (width / heads), in this order.
  TensorId heads(const std::string& name, TensorId x, const std::vector<std::int64_t>& order) {
    const TensorId shape =
        network_.list(name + ".shape", {0, 0, sizes_.heads, sizes_.width / sizes_.heads});
    x = network_.node("Reshape", name + "/Reshape", {x, shape});
    return network_.node("Transpose", name + "/Transpose", {x}, {{"perm", order}});
  }

  TensorId attend(const std::string& name, TensorId x) {
    const auto part = [&](const std::string& which, const std::vector<std::int64_t>& order) {
      const std::string own = name + ".self." + which;
      return heads(own, dense(own, x, sizes_.width, sizes_.width), order);
    };
    const TensorId query = part("query", {0, 2, 1, 3});
    const TensorId key = part("key", {0, 2, 3, 1});
    const TensorId value = part("value", {0, 2, 1, 3});
    TensorId scores = network_.node("MatMul", name + ".self/MatMul", {query, key});
    const auto size = static_cast<double>(sizes_.width / sizes_.heads);
    const TensorId root =
        network_.filled(name + ".self.root", {}, static_cast<float>(std::sqrt(size)));
    scores = network_.node("Div", name + ".self/Div", {scores, root});
    scores = network_.node("Add", name + ".self/Add", {scores, bias_});
    scores =
        network_.node("Softmax", name + ".self/Softmax", {scores}, {{"axis", std::int64_t{-1}}});
    TensorId mixed = network_.node("MatMul", name + ".self/MatMul_1", {scores, value});
    mixed = network_.node("Transpose", name + ".self/Transpose", {mixed},
                          {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
    const TensorId shape = network_.list(name + ".self.shape", {0, 0, sizes_.width});
    mixed = network_.node("Reshape", name + ".self/Reshape", {mixed, shape});
    return dense(name + ".output.dense", mixed, sizes_.width, sizes_.width);
  }

  /// x * (1 + erf(x / sqrt 2)) / 2, as five nodes.
  TensorId gelu(const std::string& name, TensorId x) {
    const TensorId root = network_.filled(name + ".root", {}, std::sqrt(2.0F));
    const TensorId one = network_.filled(name + ".one", {}, 1.0F);
    const TensorId half = network_.filled(name + ".half", {}, 0.5F);
    TensorId part = network_.node("Div", name + "/Div", {x, root});
    part = network_.node("Erf", name + "/Erf", {part});
    part = network_.node("Add", name + "/Add", {part, one});
    part = network_.node("Mul", name + "/Mul", {x, part});
    return network_.node("Mul", name + "/Mul_1", {part, half});
  }

  TensorId layer(const std::string& name, TensorId x) {
    TensorId sum =
        network_.node("Add", name + ".attention/Add", {attend(name + ".attention", x), x});
    x = normalize(name + ".attention.output.LayerNorm", sum);
    TensorId inner = dense(name + ".intermediate.dense", x, sizes_.width, sizes_.inner);
    inner = gelu(name + ".intermediate.act", inner);
    sum = network_.node("Add", name + ".output/Add",
                        {dense(name + ".output.dense", inner, sizes_.inner, sizes_.width), x});
    return normalize(name + ".output.LayerNorm", sum);
  }

  RandomNetwork network_;
  BertSizes sizes_;
  TensorId bias_ = kNoTensor;
};

}  // namespace

/// W. Wang et al., *MiniLM* (2020), six layers of 384, as sentence-transformers' all-MiniLM-L6 has
/// it.
Graph minilm(const Architecture& architecture, std::uint64_t seed) {
  return Bert(architecture, seed, {.layers = 6, .width = 384, .heads = 12, .inner = 1536}).build();
}

/// J. Devlin et al., *BERT* (2018), the base model, without its pooler.
Graph bert_base(const Architecture& architecture, std::uint64_t seed) {
  return Bert(architecture, seed, {.layers = 12, .width = 768, .heads = 12, .inner = 3072}).build();
}

}  // namespace morton::graph
