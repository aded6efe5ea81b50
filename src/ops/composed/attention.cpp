// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include "base/algebra/typed_chain.hpp"
#include "base/shape.hpp"
#include "ops/composed/attending.hpp"
#include "ops/composed/writing.hpp"

namespace morton::ops {
namespace {

/// Inputs of ONNX's Attention.
enum Input : std::size_t { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kLengths };

/// Shape of input `i` with heads apart.
Shape apart_shape(const NodeView& node, std::size_t i, const char* heads_name, const char* what) {
  const Shape shape = node.input(i).shape;
  if (shape.size() == 4) return shape;
  if (shape.size() != 3) {
    node.fail(std::string(what) + " (input " + std::to_string(i) + ") are " + to_string(shape) +
              ", expected 3 or 4 dimensions");
  }
  const std::int64_t heads = node.integer(heads_name, 0);
  if (heads < 1 || shape[2] % heads != 0) {
    node.fail(std::string(heads_name) + " is " + std::to_string(heads) +
              "; it must divide the last dimension of " + what + ", " + std::to_string(shape[2]));
  }
  return {shape[0], heads, shape[1], shape[2] / heads};
}

void check_operands(const NodeView& node) {
  for (const std::size_t i : {kQuery, kKey, kValue, kPastKey, kPastValue}) require_real(node, i);
  const Shape query = apart_shape(node, kQuery, "q_num_heads", "the queries");
  const Shape key = apart_shape(node, kKey, "kv_num_heads", "the keys");
  const Shape value = apart_shape(node, kValue, "kv_num_heads", "the values");
  const bool agree = node.input(kQuery).shape.size() == node.input(kKey).shape.size() &&
                     node.input(kKey).shape.size() == node.input(kValue).shape.size() &&
                     query[0] == key[0] && key[0] == value[0] && key[1] == value[1] &&
                     key[2] == value[2] && query[3] == key[3];
  if (!agree) {
    node.fail("its queries, keys and values are " + to_string(node.input(kQuery).shape) + ", " +
              to_string(node.input(kKey).shape) + " and " + to_string(node.input(kValue).shape) +
              ", which do not go together");
  }
  if (key[1] == 0 || query[1] % key[1] != 0) {
    node.fail("has " + std::to_string(query[1]) + " heads of queries; the " +
              std::to_string(key[1]) + " heads of keys must divide them");
  }
}

/// Keys that the past adds.
std::int64_t checked_past(const NodeView& node) {
  if (node.has_input(kPastKey) != node.has_input(kPastValue)) {
    node.fail("has one of past_key and past_value, expected both or none");
  }
  if (!node.has_input(kPastKey)) return 0;
  if (node.has_input(kLengths)) {
    node.fail("has both nonpad_kv_seqlen and past_key, expected one of them");
  }
  require_rank(node, kPastKey, 4, "past_key");
  const Shape key = apart_shape(node, kKey, "kv_num_heads", "the keys");
  const Shape value = apart_shape(node, kValue, "kv_num_heads", "the values");
  const std::int64_t past = node.input(kPastKey).shape[2];
  require_shape(node, kPastKey, {key[0], key[1], past, key[3]}, "past_key");
  require_shape(node, kPastValue, {value[0], value[1], past, value[3]}, "past_value");
  return past;
}

std::int64_t checked_bound(const NodeView& node, const char* name) {
  const std::int64_t bound = node.integer(name, -1);
  if (bound < -1) {
    node.fail(std::string(name) + " is " + std::to_string(bound) + ", expected -1 or more");
  }
  return bound;
}

KeysSeen seen_of(Expansion& out, const Shape& query, std::int64_t keys, std::int64_t past) {
  const NodeView& node = out.node();
  KeysSeen seen;
  seen.queries = query[2];
  seen.keys = keys;
  seen.before = past;
  seen.left = checked_bound(node, "left_window_size");
  seen.right = checked_bound(node, "right_window_size");
  if (node.flag("is_causal", 0)) seen.right = 0;
  if (node.has_input(kMask)) {
    const Shape mask = node.input(kMask).shape;
    Shape whole = mask;
    if (!whole.empty() && whole.back() != 1 && whole.back() < keys) whole.back() = keys;
    const Shape scores{query[0], query[1], query[2], keys};
    if (node.broadcast(whole, scores, "the mask") != scores) {
      node.fail("its mask, " + to_string(mask) + ", does not broadcast to " + to_string(scores));
    }
    seen.mask = out.input(kMask);
  }
  if (node.has_input(kLengths)) {
    require_shape(node, kLengths, {query[0]}, "nonpad_kv_seqlen");
    if (node.input(kLengths).dtype != DType::i64) {
      node.fail("nonpad_kv_seqlen (input 6) is of type " +
                std::string(name_of(node.input(kLengths).dtype)) + ", expected i64");
    }
    seen.lengths = out.reshaped(out.input(kLengths), {query[0], 1, 1, 1});
  }
  return seen;
}

/// What output 3 holds.
ScoresAsked asked_of(const Expansion& out) {
  const NodeView& node = out.node();
  const std::int64_t mode = node.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) {
    node.fail("qk_matmul_output_mode is " + std::to_string(mode) + ", expected 0 to 3");
  }
  if (!out.has_output(3)) return ScoresAsked::none;
  return std::array{ScoresAsked::plain, ScoresAsked::capped, ScoresAsked::biased,
                    ScoresAsked::shares}
      .at(static_cast<std::size_t>(mode));
}

double checked_scale(const NodeView& node, std::int64_t length) {
  return node.real("scale", length == 0 ? 1.0 : 1.0 / std::sqrt(static_cast<double>(length)));
}

std::vector<TensorId> expand_attention(Expansion& out) {
  const NodeView& node = out.node();
  check_operands(node);
  const std::int64_t past = checked_past(node);
  const Shape query = apart_shape(node, kQuery, "q_num_heads", "the queries");
  const bool is_joined = node.input(kQuery).shape.size() == 3;
  const auto apart = [&](std::size_t i, std::int64_t heads) {
    return is_joined ? heads_apart(out, out.input(i), heads) : out.input(i);
  };
  const std::int64_t heads = apart_shape(node, kKey, "kv_num_heads", "the keys")[1];
  const auto with_past = [&](std::size_t i, std::size_t before) {
    const TensorId now = apart(i, heads);
    if (!node.has_input(before)) return now;
    return out.add("Concat", {out.input(before), now}, {{"axis", std::int64_t{2}}});
  };
  const TensorId key = with_past(kKey, kPastKey);
  const TensorId value = with_past(kValue, kPastValue);
  Attending attending;
  attending.query = widened(out, apart(kQuery, query[1]));
  attending.key = widened(out, key);
  attending.value = widened(out, value);
  attending.scale = checked_scale(node, query[3]);
  attending.softcap = node.real("softcap", 0.0);
  attending.seen = seen_of(out, query, out.shape_of(key)[2], past);
  const Attended all = attended(out, attending, asked_of(out));
  const DType type = node.input(kQuery).dtype;
  const TensorId result = is_joined ? heads_joined(out, all.result) : all.result;
  TensorId scores = kNoTensor;
  for (const TensorId one : {all.scores, all.capped, all.biased, all.shares}) {
    if (one != kNoTensor) scores = out.converted(one, type);
  }
  return {out.converted(result, type), key, value, scores};
}

}  // namespace

const Operator& operator_Attention() {
  static const Operator kOperator{
      .name = "Attention",
      .inputs = {.least = 3, .most = 7},
      .attributes = {"is_causal", "kv_num_heads", "left_window_size", "q_num_heads",
                     "qk_matmul_output_mode", "right_window_size", "scale", "softcap",
                     "softmax_precision"},
      .since_opset = 23,
      .expand = expand_attention,
  };
  return kOperator;
}

}  // namespace morton::ops
