// SPDX-License-Identifier: Apache-2.0
//
// RNN, GRU and LSTM, step by step: the input's sums of all steps are one product, and each step is
// a product of the state and an elementwise chain or two. Gradients follow from those.
#include <algorithm>

#include "ops/composed/writing.hpp"
#include "ops/recurrent/cell.hpp"

namespace morton::ops {
namespace {

/// Each step is nodes of its own, which planning takes time for.
constexpr std::int64_t kMostSteps = 1024;

/// The inputs by their place. GRU and RNN end with the initial state.
enum Place : std::size_t { kX, kW, kR, kBias, kLengths, kInitialH, kInitialC, kPeepholes };

struct Recurrence {
  Cell cell;  ///< without activations, which each direction has of its own
  std::int64_t steps = 0, batch = 0, inputs = 0, units = 0, directions = 1;
  bool batch_first = false;  ///< layout
  bool is_reverse = false;   ///< the first direction
};

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
  if (made.steps > kMostSteps) {
    node.unsupported("sequences of " + std::to_string(made.steps) + " steps; at most " +
                     std::to_string(kMostSteps) + " are supported");
  }
  if (node.has("clip")) {
    made.cell.clip = node.real("clip", 0.0);
    if (!(*made.cell.clip > 0.0)) node.fail("clip is not above 0");
  }
  made.cell.input_forget = node.flag("input_forget", 0);
  made.cell.resets_behind = node.flag("linear_before_reset", 0);
  return made;
}

/// One direction, as it is written out.
class Direction {
 public:
  Direction(Expansion& out, const Recurrence& recurrence, std::int64_t d)
      : out_(out), made_(recurrence), d_(d), cell_(recurrence.cell) {
    cell_.activations = cell_activations(out.node(), cell_, static_cast<std::size_t>(d));
  }

  /// `x` is T x N x I; `present` T x N x 1, 1 where a sequence has the step, or none.
  void write(TensorId x, TensorId present) {
    const CellWeights weights = shared_weights();
    const TensorId sums = input_sums(x);
    CellState state{initial(kInitialH),
                    cell_.kind == Cell::Kind::lstm ? initial(kInitialC) : kNoTensor};
    const bool reverse = made_.is_reverse || d_ == 1;
    shown_.resize(static_cast<std::size_t>(made_.steps));
    for (std::int64_t i = 0; i < made_.steps; ++i) {
      const std::int64_t t = reverse ? made_.steps - 1 - i : i;
      const TensorId own = out_.reshaped(part_along(out_, sums, 0, t, t + 1),
                                         {cell_.gates(), made_.batch, made_.units});
      CellState next = cell_step(out_, cell_, weights, own, state);
      TensorId shown = next.h;
      if (present != kNoTensor) {
        const TensorId mask =
            out_.reshaped(part_along(out_, present, 0, t, t + 1), {made_.batch, 1});
        shown = chosen(mask, next.h, kNoTensor);
        next.h = chosen(mask, next.h, state.h);
        if (next.c != kNoTensor) next.c = chosen(mask, next.c, state.c);
      }
      state = next;
      shown_[static_cast<std::size_t>(t)] = out_.reshaped(shown, {1, 1, made_.batch, made_.units});
    }
    last_ = state;
  }

  /// T x 1 x N x H.
  [[nodiscard]] TensorId all() const { return joined(out_, shown_, 0); }
  /// 1 x N x H each.
  [[nodiscard]] TensorId last_h() const { return as_last(last_.h); }
  [[nodiscard]] TensorId last_c() const { return as_last(last_.c); }

  [[nodiscard]] static TensorId joined(GraphWriter& out, const std::vector<TensorId>& parts,
                                       std::int64_t axis) {
    return parts.size() == 1 ? parts.front() : out.add("Concat", parts, {{"axis", axis}});
  }

 private:
  [[nodiscard]] TensorId as_last(TensorId state) const {
    return out_.reshaped(state, {1, made_.batch, made_.units});
  }

  /// This direction's part of input `place`, of `shape`.
  TensorId own(Place place, std::size_t axis, const Shape& shape) {
    const TensorId whole = widened(out_, out_.input(place));
    return out_.reshaped(part_along(out_, whole, axis, d_, d_ + 1), shape);
  }

  TensorId initial(Place place) {
    const Shape shape{made_.batch, made_.units};
    if (!out_.node().has_input(place)) {
      const DType type = computed_type(out_.node().input(kX).dtype);
      return out_.expanded(out_.scalar(type, 0.0), shape);
    }
    return own(place, made_.batch_first ? 1 : 0, shape);
  }

  CellWeights shared_weights() {
    const std::int64_t units = made_.units;
    CellWeights weights;
    weights.recurrent = out_.transposed(own(kR, 0, {cell_.gates(), units, units}), {0, 2, 1});
    if (cell_.kind == Cell::Kind::gru && cell_.resets_behind && out_.node().has_input(kBias)) {
      const TensorId bias = own(kBias, 0, {6 * units});
      weights.inner = part_along(out_, bias, 0, 5 * units, 6 * units);
    }
    if (cell_.kind == Cell::Kind::lstm && out_.node().has_input(kPeepholes)) {
      const TensorId all = own(kPeepholes, 0, {3 * units});
      for (std::int64_t i = 0; i < 3; ++i) {
        weights.peepholes[static_cast<std::size_t>(i)] =
            part_along(out_, all, 0, i * units, (i + 1) * units);
      }
    }
    return weights;
  }

  /// The input's sums for each gate with the biases that are theirs, T x gates x N x H.
  TensorId input_sums(TensorId x) {
    const std::int64_t gates = cell_.gates();
    const std::int64_t units = made_.units;
    const TensorId rows = out_.reshaped(x, {1, made_.steps * made_.batch, made_.inputs});
    const TensorId weights = out_.transposed(own(kW, 0, {gates, units, made_.inputs}), {0, 2, 1});
    TensorId sums = out_.add("MatMul", {rows, weights});
    if (out_.node().has_input(kBias)) {
      const TensorId both = own(kBias, 0, {2, gates * units});
      TensorId bias = out_.apply(
          ScalarOp::add, {part_along(out_, both, 0, 0, 1), part_along(out_, both, 0, 1, 2)});
      if (cell_.kind == Cell::Kind::gru && cell_.resets_behind) bias = without_inner(both, bias);
      sums = out_.apply(ScalarOp::add, {sums, out_.reshaped(bias, {gates, 1, units})});
    }
    return out_.transposed(out_.reshaped(sums, {gates, made_.steps, made_.batch, units}),
                           {1, 0, 2, 3});
  }

  /// Of a GRU whose reset gate scales the state's sum: the hidden gate's bias of the state is
  /// there.
  TensorId without_inner(TensorId both, TensorId bias) {
    const std::int64_t units = made_.units;
    const TensorId of_input = part_along(out_, both, 0, 0, 1);
    return joined(out_,
                  {part_along(out_, bias, 1, 0, 2 * units),
                   part_along(out_, of_input, 1, 2 * units, 3 * units)},
                  1);
  }

  /// `value` where `mask` is 1, else `otherwise`, or 0 without one.
  TensorId chosen(TensorId mask, TensorId value, TensorId otherwise) {
    Chain chain;
    chain.input_count = 3;
    const ScalarRef is_present =
        chain.append(ScalarOp::less, {ScalarRef::constant(0.5), ScalarRef::input(1)});
    const bool has_other = otherwise != kNoTensor;
    chain.append(ScalarOp::select, {is_present, ScalarRef::input(0),
                                    has_other ? ScalarRef::input(2) : ScalarRef::constant(0.0)});
    return out_.chain(chain, {value, mask, has_other ? otherwise : value});
  }

  Expansion& out_;
  const Recurrence& made_;
  std::int64_t d_ = 0;
  Cell cell_;
  std::vector<TensorId> shown_;
  CellState last_;
};

/// 1 where sequence n has step t, T x N x 1.
TensorId present_steps(Expansion& out, const Recurrence& made, DType type) {
  if (!out.node().has_input(kLengths)) return kNoTensor;
  const TensorId lengths =
      out.reshaped(out.converted(out.input(kLengths), DType::i64), {1, made.batch, 1});
  Chain chain;
  chain.input_count = 2;
  const ScalarRef is_there =
      chain.append(ScalarOp::less, {ScalarRef::input(1), ScalarRef::input(0)});
  chain.append_conversion(ScalarOp::cast, is_there, type);
  return out.chain(chain, {out.expanded(lengths, {made.steps, made.batch, 1}),
                           out.numbered(0, {made.steps, 1, 1})});
}

template <Cell::Kind kKind>
std::vector<TensorId> expand_recurrence(Expansion& out) {
  const NodeView& node = out.node();
  const Recurrence made = recurrence_of(node, kKind);
  const DType given = node.input(kX).dtype;
  TensorId x = widened(out, out.input(kX));
  if (made.batch_first) x = out.transposed(x, {1, 0, 2});
  const TensorId present = present_steps(out, made, out.type_of(x));
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
    TensorId value = Direction::joined(out, parts, axis);
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
