// SPDX-License-Identifier: Apache-2.0
//
// RNN, GRU and LSTM: the input's sums of all steps are one product; what follows is written by
// Direction.
#include <algorithm>

#include "ops/composed/writing.hpp"
#include "ops/recurrent/direction.hpp"
#include "ops/recurrent/sequence_node.hpp"

namespace morton::ops {
namespace {

Recurrence recurrence_of(const NodeView& node, Cell::Kind kind) {
  Recurrence made;
  made.cell.kind = kind;
  made.batch_first = node.flag("layout", 0);
  require_rank(node, kX, 3, "the sequences");
  require_rank(node, kR, 3, "the recurrent weights");
  const Shape x = node.input(kX).shape;
  made.steps = x[made.batch_first ? 1 : 0];
  made.batch = x[made.batch_first ? 0 : 1];
  made.inputs = x[2];
  made.units = node.input(kR).shape[2];
  const std::string direction = node.text("direction", "forward");
  if (direction == "bidirectional") made.directions = 2;
  made.is_reverse = direction == "reverse";
  if (made.directions == 1 && !made.is_reverse && direction != "forward") {
    node.fail("direction '" + direction +
              "' is unknown; expected forward, reverse or bidirectional");
  }
  if (const std::int64_t units = node.integer("hidden_size", made.units); units != made.units) {
    node.fail("hidden_size is " + std::to_string(units) + ", the recurrent weights are for " +
              std::to_string(made.units));
  }
  const std::int64_t gates = made.cell.gates() * made.units;
  require_shape(node, kW, {made.directions, gates, made.inputs}, "the weights");
  require_shape(node, kR, {made.directions, gates, made.units}, "the recurrent weights");
  require_shape(node, kBias, {made.directions, 2 * gates}, "the bias");
  require_shape(node, kLengths, {made.batch}, "the lengths");
  const Shape state = made.batch_first ? Shape{made.batch, made.directions, made.units}
                                       : Shape{made.directions, made.batch, made.units};
  require_shape(node, kInitialH, state, "the initial state");
  require_shape(node, kInitialC, state, "the initial cell state");
  require_shape(node, kPeepholes, {made.directions, 3 * made.units}, "the peepholes");
  if (made.steps < 1 || made.batch < 1 || made.units < 1) {
    node.fail("its sequences are " + to_string(x) + "; one or more of each are expected");
  }
  if (node.has("clip")) {
    made.cell.clip = node.real("clip", 0.0);
    if (!(*made.cell.clip > 0.0)) node.fail("clip is not above 0");
  }
  made.cell.input_forget = node.flag("input_forget", 0);
  made.cell.resets_behind = node.flag("linear_before_reset", 0);
  return made;
}

template <Cell::Kind kKind>
std::vector<TensorId> expand_recurrence(Expansion& out) {
  const NodeView& node = out.node();
  const Recurrence made = recurrence_of(node, kKind);
  const DType given = node.input(kX).dtype;
  TensorId x = widened(out, out.input(kX));
  if (made.batch_first) x = out.transposed(x, {1, 0, 2});
  TensorId present = kNoTensor;
  if (node.has_input(kLengths)) {
    const TensorId lengths = out.converted(out.input(kLengths), DType::i64);
    present = present_steps(out, lengths, made.steps, out.type_of(x));
  }
  std::vector<TensorId> all, last_h, last_c;
  for (std::int64_t d = 0; d < made.directions; ++d) {
    Direction direction(out, made, d);
    direction.write(x, present);
    all.push_back(direction.all());
    last_h.push_back(direction.last_h());
    if (kKind == Cell::Kind::lstm) last_c.push_back(direction.last_c());
  }
  // T x D x N x H and D x N x H, or N x T x D x H and N x D x H.
  const auto result = [&](const std::vector<TensorId>& parts, std::int64_t axis,
                          const std::vector<std::int64_t>& batch_first) {
    TensorId value = joined_along(out, parts, axis);
    if (made.batch_first) value = out.transposed(value, batch_first);
    return out.converted(value, given);
  };
  std::vector<TensorId> results{result(all, 1, {2, 0, 1, 3}), result(last_h, 0, {1, 0, 2})};
  if (kKind == Cell::Kind::lstm) results.push_back(result(last_c, 0, {1, 0, 2}));
  return results;
}

template <Cell::Kind kKind>
Operator recurrent_row(std::string_view name) {
  Operator row{.name = name,
               .inputs = {.least = 3, .most = 6, .parameters = {kW, kR, kBias}},
               .attributes = {"activation_alpha", "activation_beta", "activations", "clip",
                              "direction", "hidden_size", "layout"},
               .since_opset = 7,
               .expand = expand_recurrence<kKind>,
               .types = {DType::f32, DType::f16, DType::bf16, DType::i32}};
  if (kKind == Cell::Kind::gru) row.attributes.emplace_back("linear_before_reset");
  if (kKind == Cell::Kind::lstm) {
    row.inputs.most = 8;
    row.inputs.parameters.push_back(kPeepholes);
    row.attributes.emplace_back("input_forget");
  }
  return row;
}

}  // namespace

const OperatorTable& recurrence_operators() {
  static const OperatorTable kTable{
      recurrent_row<Cell::Kind::gru>("GRU"),
      recurrent_row<Cell::Kind::lstm>("LSTM"),
      recurrent_row<Cell::Kind::rnn>("RNN"),
  };
  return kTable;
}

}  // namespace morton::ops
