// SPDX-License-Identifier: Apache-2.0
//
// Attention and rotary embedding, as ONNX Runtime's optimiser writes them into files.
#include <cmath>

#include "base/algebra/typed_chain.hpp"
#include "base/shape.hpp"
#include "ops/composed/attending.hpp"
#include "ops/composed/rotation.hpp"
#include "ops/composed/writing.hpp"
#include "ops/core/made_constant.hpp"

namespace morton::ops {
namespace {

std::int64_t checked_heads_of(const NodeView& node, std::int64_t width) {
  const std::int64_t heads = node.integer("num_heads", 0);
  if (heads < 1 || width % heads != 0) {
    node.fail("num_heads is " + std::to_string(heads) + "; it must divide " +
              std::to_string(width));
  }
  return heads;
}

double scale_of(const NodeView& node, std::int64_t length) {
  const double given = node.real("scale", 0.0);
  return given != 0.0 ? given : 1.0 / std::sqrt(static_cast<double>(length));
}

/// What a mask (input `i`) adds to the scores of `keys` keys: [batch] counts the keys of each
/// sequence, [batch, keys] and [batch, queries, keys] say which are seen.
TensorId mask_bias(Expansion& out, std::size_t i, std::int64_t batch, std::int64_t queries,
                   std::int64_t keys) {
  const NodeView& node = out.node();
  const Shape shape = node.input(i).shape;
  TensorId seen = kNoTensor;
  if (shape == Shape{batch}) {
    Tensor numbers = made_constant(DType::i32, {keys}, node.where());
    for (std::int64_t k = 0; k < keys; ++k) numbers.set(k, static_cast<double>(k));
    const TensorId lengths =
        out.reshaped(out.converted(out.input(i), DType::i32), {batch, 1, 1, 1});
    seen = out.add("Less", {out.constant(std::move(numbers)), lengths});
  } else if (shape == Shape{batch, keys}) {
    seen = out.reshaped(out.converted(out.input(i), DType::boolean), {batch, 1, 1, keys});
  } else if (shape == Shape{batch, queries, keys}) {
    seen = out.reshaped(out.converted(out.input(i), DType::boolean), {batch, 1, queries, keys});
  } else {
    node.unsupported("a mask of " + to_string(shape) + " is not supported; " +
                     to_string(Shape{batch}) + ", " + to_string(Shape{batch, keys}) + " and " +
                     to_string(Shape{batch, queries, keys}) + " are");
  }
  const double other = node.real("mask_filter_value", -10000.0);
  return out.add("Where", {seen, out.scalar(DType::f32, 0.0), out.scalar(DType::f32, other)});
}

/// Sets which keys are seen, from the inputs that are a mask and a bias of the scores.
void see(Expansion& out, Attending& attending, std::size_t mask, std::size_t bias,
         std::int64_t past) {
  const NodeView& node = out.node();
  const Shape query = out.shape_of(attending.query);
  const std::int64_t keys = out.shape_of(attending.key)[2];
  KeysSeen& seen = attending.seen;
  seen.queries = query[2];
  seen.keys = keys;
  seen.before = past;
  if (node.flag("unidirectional", 0)) seen.right = 0;
  if (node.has_input(mask)) seen.mask = mask_bias(out, mask, query[0], query[2], keys);
  if (!node.has_input(bias)) return;
  const Shape scores{query[0], query[1], query[2], keys};
  if (node.broadcast(node.input(bias).shape, scores) != scores) {
    node.fail("the bias of its scores, " + to_string(node.input(bias).shape) +
              ", does not broadcast to " + to_string(scores));
  }
  const TensorId more = widened(out, out.input(bias));
  seen.mask = seen.mask == kNoTensor ? more : out.add("Add", {seen.mask, more});
}

TensorId behind_past(Expansion& out, TensorId past, TensorId now) {
  if (past == kNoTensor) return now;
  return out.add("Concat", {past, now}, {{"axis", std::int64_t{2}}});
}

void require_none(const NodeView& node, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i <= last; ++i) {
    if (node.has_input(i)) {
      node.unsupported("input " + std::to_string(i) + " is not supported");
    }
  }
}

/// Inputs: queries, keys, values, bias, mask, bias of scores, past keys, past values.
std::vector<TensorId> expand_multi_head(Expansion& out) {
  const NodeView& node = out.node();
  if (!node.has_input(1) || !node.has_input(2)) {
    node.unsupported("keys and values packed with the queries are not supported");
  }
  require_none(node, 8, 9);
  if (node.input(1).shape.size() == 4 || node.input(2).shape.size() == 4) {
    node.unsupported("keys and values with their heads apart are not supported");
  }
  for (std::size_t i = 0; i < 3; ++i) require_rank(node, i, 3, "an operand");
  if (node.has_input(6) != node.has_input(7)) {
    node.fail("has one of past_key and past_value, expected both or none");
  }
  require_rank(node, 6, 4, "past_key");
  const Shape query = node.input(0).shape;
  const Shape key = node.input(1).shape;
  const Shape value = node.input(2).shape;
  require_shape(node, 1, {query[0], key[1], query[2]}, "the keys");
  require_shape(node, 2, {query[0], key[1], value[2]}, "the values");
  require_shape(node, 3, {query[2] + key[2] + value[2]}, "the bias");
  const std::int64_t heads = checked_heads_of(node, query[2]);
  (void)checked_heads_of(node, value[2]);
  std::int64_t first = 0;
  const auto operand = [&](std::size_t i) {
    TensorId x = widened(out, out.input(i));
    const std::int64_t width = node.input(i).shape[2];
    if (node.has_input(3)) {
      const TensorId bias = widened(out, out.input(3));
      x = out.add("Add", {x, part_along(out, bias, 0, first, first + width)});
    }
    first += width;
    return heads_apart(out, x, heads);
  };
  const DType type = node.input(0).dtype;
  Attending attending;
  attending.query = operand(0);
  const std::int64_t past = node.has_input(6) ? node.input(6).shape.at(2) : 0;
  require_shape(node, 6, {query[0], heads, past, key[2] / heads}, "past_key");
  require_shape(node, 7, {query[0], heads, past, value[2] / heads}, "past_value");
  attending.key = behind_past(out, widened(out, out.input(6)), operand(1));
  attending.value = behind_past(out, widened(out, out.input(7)), operand(2));
  attending.scale = scale_of(node, query[2] / heads);
  see(out, attending, 4, 5, past);
  const TensorId result = heads_joined(out, attended(out, attending).result);
  return {out.converted(result, type), out.converted(attending.key, type),
          out.converted(attending.value, type)};
}

/// Keys and values are stacked where they are equally wide.
void require_equal_widths(const Expansion& out, const std::vector<std::int64_t>& widths) {
  const NodeView& node = out.node();
  const bool is_stacked = node.has_input(4) || (!node.node().outputs.empty() && out.has_output(1));
  if (!is_stacked || widths[0] == widths[2]) return;
  node.fail("stacks keys and values of " + std::to_string(widths[0]) + " and " +
            std::to_string(widths[2]) + " columns, which must be equally wide");
}

/// Widths of queries, keys and values in a product of `width` columns.
std::vector<std::int64_t> packed_widths(const NodeView& node, std::int64_t width) {
  const auto widths = node.integers("qkv_hidden_sizes", {width / 3, width / 3, width / 3});
  const bool fits = widths.size() == 3 && widths[0] == widths[1] && widths[0] > 0 &&
                    widths[2] > 0 && widths[0] + widths[1] + widths[2] == width;
  if (!fits) {
    node.fail("qkv_hidden_sizes " + to_string(widths) + " do not make up the " +
              std::to_string(width) + " columns of its weights");
  }
  return widths;
}

/// Inputs: words, weights, bias, mask, past, bias of scores. Output 1 is keys and values.
std::vector<TensorId> expand_packed(Expansion& out) {
  const NodeView& node = out.node();
  require_none(node, 6, 6);
  require_rank(node, 0, 3, "its input");
  require_rank(node, 1, 2, "the weights");
  const Shape shape = node.input(0).shape;
  const std::int64_t width = node.input(1).shape[1];
  require_shape(node, 1, {shape[2], width}, "the weights");
  require_shape(node, 2, {width}, "the bias");
  const auto widths = packed_widths(node, width);
  require_equal_widths(out, widths);
  const std::int64_t heads = checked_heads_of(node, widths[0]);
  (void)checked_heads_of(node, widths[2]);
  TensorId all = out.add("MatMul", {widened(out, out.input(0)), widened(out, out.input(1))});
  if (node.has_input(2)) all = out.add("Add", {all, widened(out, out.input(2))});
  std::int64_t first = 0;
  const auto operand = [&](std::size_t i) {
    const TensorId x = part_along(out, all, 2, first, first + widths[i]);
    first += widths[i];
    return heads_apart(out, x, heads);
  };
  Attending attending;
  attending.query = operand(0);
  require_rank(node, 4, 5, "the past");
  const std::int64_t past = node.has_input(4) ? node.input(4).shape[3] : 0;
  const std::int64_t length = widths[0] / heads;
  require_shape(node, 4, {2, shape[0], heads, past, length}, "the past");
  const auto past_of = [&](std::int64_t i) {
    if (!node.has_input(4)) return kNoTensor;
    const TensorId part = part_along(out, widened(out, out.input(4)), 0, i, i + 1);
    return out.reshaped(part, {shape[0], heads, past, length});
  };
  attending.key = behind_past(out, past_of(0), operand(1));
  attending.value = behind_past(out, past_of(1), operand(2));
  attending.scale = scale_of(node, length);
  see(out, attending, 3, 5, past);
  const DType type = node.input(0).dtype;
  const TensorId result = heads_joined(out, attended(out, attending).result);
  TensorId present = kNoTensor;
  if (out.has_output(1) && widths[0] == widths[2]) {
    const Shape one{1, shape[0], heads, past + shape[1], length};
    present =
        out.add("Concat", {out.reshaped(attending.key, one), out.reshaped(attending.value, one)},
                {{"axis", std::int64_t{0}}});
  }
  return {out.converted(result, type), out.converted(present, type)};
}

/// Inputs: x, positions ([1] is that of the first), cosines, sines.
std::vector<TensorId> expand_microsoft_rotary(Expansion& out) {
  const NodeView& node = out.node();
  const Shape shape = node.input(0).shape;
  require_rank(node, 2, 2, "the cache of cosines");
  require_shape(node, 3, node.input(2).shape, "the cache of sines");
  if (node.flag("is_packed_batching", 0)) node.unsupported("is_packed_batching is not supported");
  if (shape.size() != 3 && shape.size() != 4) {
    node.fail("its input is " + to_string(shape) + ", expected 3 or 4 dimensions");
  }
  const std::int64_t half = node.input(2).shape[1];
  const bool is_joined = shape.size() == 3;
  const std::int64_t positions = is_joined ? shape[1] : shape[2];
  std::int64_t heads = is_joined ? node.integer("num_heads", 0) : shape[1];
  if (is_joined && heads == 0) heads = shape[2] / (2 * std::max<std::int64_t>(half, 1));
  if (heads < 1 || (is_joined && shape[2] % heads != 0)) {
    node.fail("has " + std::to_string(heads) + " heads, which do not divide " + to_string(shape));
  }
  const Shape apart = is_joined ? Shape{shape[0], positions, heads, shape[2] / heads} : shape;
  if (half < 1 || 2 * half > apart[3]) {
    node.fail("rotates " + std::to_string(2 * half) + " of the " + std::to_string(apart[3]) +
              " elements of a head");
  }
  TensorId places = out.input(1);
  std::int64_t sequences = shape[0];
  if (node.input(1).shape == Shape{1} && positions * shape[0] != 1) {
    places = out.add("Add", {out.numbered(0, {positions}), places});
    sequences = 1;
  } else if (node.input(1).shape != Shape{1}) {
    require_shape(node, 1, {shape[0], positions}, "the positions");
  }
  const Shape angles =
      is_joined ? Shape{sequences, positions, 1, half} : Shape{sequences, 1, positions, half};
  const auto angle = [&](std::size_t i) {
    return out.reshaped(out.add("Gather", {widened(out, out.input(i)), places}), angles);
  };
  const TensorId x = out.reshaped(widened(out, out.input(0)), apart);
  const Rotation rotation{
      angle(2), angle(3),
      node.flag("interleaved", 0) ? Rotation::Pairs::neighbours : Rotation::Pairs::halves};
  return {out.converted(out.reshaped(rotated(out, x, rotation), shape), node.input(0).dtype)};
}

}  // namespace

const OperatorTable& microsoft_attention_operators() {
  static const OperatorTable kTable{
      foreign_operator(
          "com.microsoft.Attention", {.least = 2, .most = 7, .parameters = {1, 2}},
          {"mask_filter_value", "num_heads", "qkv_hidden_sizes", "scale", "unidirectional"},
          expand_packed),
      foreign_operator(
          "com.microsoft.MultiHeadAttention", {.least = 1, .most = 10, .parameters = {3}},
          {"mask_filter_value", "num_heads", "scale", "unidirectional"}, expand_multi_head),
      foreign_operator(
          "com.microsoft.RotaryEmbedding", {.least = 4, .most = 4},
          {"interleaved", "is_packed_batching", "num_heads", "rotary_embedding_dim", "scale"},
          expand_microsoft_rotary),
  };
  return kTable;
}

}  // namespace morton::ops
