// SPDX-License-Identifier: Apache-2.0
//
// Normalisations of transformers, as ONNX Runtime's optimiser writes them into files.
#include "base/algebra/typed_chain.hpp"
#include "base/shape.hpp"
#include "ops/composed/writing.hpp"

namespace morton::ops {
namespace {

constexpr double kSkipEpsilon = 1e-12;

/// x / sqrt(mean of squares + epsilon) * scale. Output 1 is 1 over that root.
std::vector<TensorId> expand_simplified(Expansion& out) {
  const NodeView& node = out.node();
  require_real(node, 0);
  const Shape shape = node.input(0).shape;
  const Shape scale = node.input(1).shape;
  if (node.broadcast(scale, shape) != shape) {
    node.fail("the scale, " + to_string(scale) + ", does not broadcast to " + to_string(shape));
  }
  if (node.integer("stash_type", 1) != 1) {
    node.unsupported("stash_type " + std::to_string(node.integer("stash_type", 1)) +
                     " is not supported; 1 (computed in f32) is");
  }
  const std::size_t rank = shape.size();
  const std::size_t first =
      node.axis(node.integer("axis", -1), rank, static_cast<std::int64_t>(rank) - 1);
  const RootMeanSquare root = root_mean_square(
      out, widened(out, out.input(0)), dimensions_between(first, rank), node.real("epsilon", 1e-5));
  const TensorId scaled = out.apply(ScalarOp::mul, {root.units, widened(out, out.input(1))});
  return {out.converted(scaled, node.input(1).dtype), root.inverse};
}

/// The sum of the input, what skipped a layer, and the bias.
TensorId skip_sum(Expansion& out, std::size_t bias) {
  const NodeView& node = out.node();
  const Shape shape = node.input(0).shape;
  require_real(node, 0);
  if (shape.size() != 2 && shape.size() != 3) {
    node.fail("its input is " + to_string(shape) + ", expected 2 or 3 dimensions");
  }
  if (node.broadcast(node.input(1).shape, shape) != shape) {
    node.fail("what is added (input 1), " + to_string(node.input(1).shape) +
              ", does not broadcast to " + to_string(shape));
  }
  for (std::size_t i = 2; i < node.input_count(); ++i) {
    require_shape(node, i, {shape.back()}, "what scales or shifts");
  }
  TensorId sum = out.add("Add", {widened(out, out.input(0)), widened(out, out.input(1))});
  if (node.has_input(bias)) sum = out.add("Add", {sum, widened(out, out.input(bias))});
  return sum;
}

/// Inputs: x, skip, scale, shift, bias. Outputs: the result, means, deviations' inverses, the sum.
std::vector<TensorId> expand_skip(Expansion& out) {
  const NodeView& node = out.node();
  const DType type = node.input(0).dtype;
  const TensorId sum = skip_sum(out, 4);
  const std::vector<TensorId> results = out.add_several(
      "LayerNormalization", {sum, widened(out, out.input(2)), widened(out, out.input(3))}, 3,
      {{"epsilon", node.real("epsilon", kSkipEpsilon)}});
  return {out.converted(results[0], type), results[1], results[2], out.converted(sum, type)};
}

/// Inputs: x, skip, scale, bias. Outputs as above; there is no mean.
std::vector<TensorId> expand_skip_simplified(Expansion& out) {
  const NodeView& node = out.node();
  const DType type = node.input(0).dtype;
  const bool is_inferred = node.node().outputs.empty();
  if (!is_inferred && out.has_output(1))
    node.unsupported("output 1 (means) is not supported; there are none");
  const TensorId sum = skip_sum(out, 3);
  const auto last = static_cast<std::int64_t>(node.input(0).shape.size()) - 1;
  const RootMeanSquare root =
      root_mean_square(out, sum, {last}, node.real("epsilon", kSkipEpsilon));
  const TensorId scaled = out.apply(ScalarOp::mul, {root.units, widened(out, out.input(2))});
  return {out.converted(scaled, type), kNoTensor, root.inverse, out.converted(sum, type)};
}

/// Inputs of EmbedLayerNormalization.
enum EmbedInput : std::size_t {
  kWords,
  kSegments,
  kWordTable,
  kPlaceTable,
  kSegmentTable,
  kScale,
  kShift,
  kWordMask,
  kPlaces
};

void check_embedding(const NodeView& node) {
  for (const std::size_t i : {kWordTable, kPlaceTable, kScale, kShift}) {
    if (!node.has_input(i)) node.fail("input " + std::to_string(i) + " is missing");
  }
  require_rank(node, kWords, 2, "the words");
  const Shape words = node.input(kWords).shape;
  for (const std::size_t table : {kWordTable, kPlaceTable, kSegmentTable}) {
    require_rank(node, table, 2, "a table");
    if (node.has_input(table)) {
      require_shape(node, table, {node.input(table).shape[0], node.input(kWordTable).shape[1]},
                    "a table");
    }
  }
  for (const std::size_t ids : {kWords, kSegments, kWordMask}) {
    require_shape(node, ids, words, "a number for each word");
  }
  if (node.has_input(kSegments) != node.has_input(kSegmentTable)) {
    node.fail("has segments or a table of them (inputs 1 and 4), expected both or none");
  }
  if (!node.has_input(kPlaces) && node.input(kPlaceTable).shape[0] < words[1]) {
    node.fail("has " + std::to_string(words[1]) + " words and a table of " +
              std::to_string(node.input(kPlaceTable).shape[0]) + " places");
  }
}

TensorId place_rows(Expansion& out) {
  const NodeView& node = out.node();
  const std::int64_t words = node.input(kWords).shape[1];
  const TensorId table = out.input(kPlaceTable);
  if (node.has_input(kPlaces)) return widened(out, out.add("Gather", {table, out.input(kPlaces)}));
  return widened(out, part_along(out, table, 0, 0, words));
}

/// Words, places and segments looked up, added and normalised. Output 1 counts each sentence's
/// words, output 2 is the sum.
std::vector<TensorId> expand_embedding(Expansion& out) {
  const NodeView& node = out.node();
  check_embedding(node);
  const DType type = node.input(kWordTable).dtype;
  TensorId sum = widened(out, out.add("Gather", {out.input(kWordTable), out.input(kWords)}));
  sum = out.add("Add", {sum, place_rows(out)});
  if (node.has_input(kSegments)) {
    const TensorId rows = out.add("Gather", {out.input(kSegmentTable), out.input(kSegments)});
    sum = out.add("Add", {sum, widened(out, rows)});
  }
  const TensorId result = out.add(
      "LayerNormalization", {sum, widened(out, out.input(kScale)), widened(out, out.input(kShift))},
      {{"epsilon", node.real("epsilon", kSkipEpsilon)}});
  const std::int64_t batch = node.input(kWords).shape[0];
  TensorId counts = kNoTensor;
  if (node.has_input(kWordMask)) {
    const TensorId mask = out.converted(out.input(kWordMask), DType::i32);
    counts = out.reshaped(out.sum(mask, {1}), {batch});
  } else {
    counts = out.constant(Tensor::allocate(DType::i32, {batch}));
  }
  return {out.converted(result, type), counts, out.converted(sum, type)};
}

/// ONNX Runtime has it in ONNX's own domain.
template <std::vector<TensorId> (*kExpand)(Expansion&)>
Operator onnx_row(std::string_view name) {
  return {.name = name,
          .inputs = {.least = 2, .most = 2, .parameters = {1}},
          .attributes = {"axis", "epsilon", "stash_type"},
          .since_opset = 1,
          .expand = kExpand};
}

}  // namespace

const OperatorTable& microsoft_normalization_operators() {
  static const OperatorTable kTable{
      onnx_row<expand_simplified>("SimplifiedLayerNormalization"),
      foreign_operator("com.microsoft.EmbedLayerNormalization",
                       {.least = 1, .most = 9, .parameters = {2, 3, 4, 5, 6}},
                       {"epsilon", "mask_index_type"}, expand_embedding),
      foreign_operator("com.microsoft.SkipLayerNormalization",
                       {.least = 3, .most = 5, .parameters = {2, 3, 4}}, {"epsilon"}, expand_skip),
      foreign_operator("com.microsoft.SkipSimplifiedLayerNormalization",
                       {.least = 3, .most = 4, .parameters = {2, 3}}, {"epsilon"},
                       expand_skip_simplified),
  };
  return kTable;
}

}  // namespace morton::ops
