// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/direction.hpp"

#include <algorithm>

#include "ops/composed/writing.hpp"
#include "ops/recurrent/sequence_node.hpp"

namespace morton::ops {

Direction::Direction(Expansion& out, const Recurrence& recurrence, std::int64_t d)
    : out_(out), made_(recurrence), d_(d), cell_(recurrence.cell) {
  cell_.activations = cell_activations(out.node(), cell_, static_cast<std::size_t>(d));
}

void Direction::write(TensorId x, TensorId present) {
  const std::string_view cell = sequence_cell();
  if (!cell.empty()) return write_at_once(cell, x, present);
  if (made_.steps > kMostSteps) {
    out_.node().unsupported("sequences of " + std::to_string(made_.steps) +
                            " steps; with these activations, peepholes or a clip at most " +
                            std::to_string(kMostSteps) + " are supported");
  }
  write_steps(x, present);
}

std::string_view Direction::sequence_cell() const {
  const auto names = [&](const std::vector<std::string_view>& expected) {
    return std::ranges::equal(cell_.activations, expected, {}, &CellActivation::name);
  };
  const bool is_plain = !cell_.clip && !cell_.input_forget && !out_.node().has_input(kPeepholes);
  if (!is_plain) return {};
  switch (cell_.kind) {
    case Cell::Kind::rnn:
      return names({"tanh"}) ? "tanh" : names({"relu"}) ? "relu" : "";
    case Cell::Kind::gru:
      if (!names({"sigmoid", "tanh"})) return {};
      return cell_.resets_behind ? "gru_behind" : "gru";
    case Cell::Kind::lstm:
      return names({"sigmoid", "tanh", "tanh"}) ? "lstm" : "";
  }
  return {};
}

void Direction::write_at_once(std::string_view cell, TensorId x, TensorId present) {
  const std::int64_t gates = cell_.gates();
  const std::int64_t units = made_.units;
  const std::int64_t steps = made_.steps;
  const DType type = out_.type_of(x);
  TensorId bias = kNoTensor;
  std::vector<TensorId> product{out_.reshaped(x, {steps * made_.batch, made_.inputs}),
                                own(kW, 0, {gates * units, made_.inputs})};
  if (out_.node().has_input(kBias)) {
    const TensorId both = own(kBias, 0, {2, gates * units});
    product.push_back(out_.reshaped(part_along(out_, both, 0, 0, 1), {gates * units}));
    bias = out_.reshaped(part_along(out_, both, 0, 1, 2), {gates, units});
  } else {
    bias = out_.expanded(out_.scalar(type, 0.0), {gates, units});
  }
  const TensorId sums = out_.add("Gemm", product, {{"transB", std::int64_t{1}}});
  const Shape state{1, made_.batch, units};
  std::vector<TensorId> first{out_.reshaped(initial(kInitialH), state)};
  if (cell_.kind == Cell::Kind::lstm) first.push_back(out_.reshaped(initial(kInitialC), state));
  const TensorId lengths =
      out_.node().has_input(kLengths)
          ? out_.converted(out_.input(kLengths), DType::i64)
          : out_.list(std::vector<std::int64_t>(static_cast<std::size_t>(made_.batch), steps));
  const TensorId states =
      out_.add("RecurrentSequence",
               {out_.reshaped(sums, {steps, made_.batch, gates, units}),
                own(kR, 0, {gates, units, units}), bias, joined_along(out_, first, 0), lengths},
               {{"cell", std::string(cell)}, {"reverse", std::int64_t{is_reverse()}}});
  const auto part = [&](std::int64_t s) {
    return out_.reshaped(part_along(out_, states, 0, s, s + 1), {steps, made_.batch, units});
  };
  const auto last = [&](TensorId all) {
    const std::int64_t t = is_reverse() ? 0 : steps - 1;
    return part_along(out_, all, 0, t, t + 1);
  };
  const TensorId h = part(0);
  last_.h = last(h);
  if (cell_.kind == Cell::Kind::lstm) last_.c = last(part(1));
  all_ = out_.reshaped(present == kNoTensor ? h : chosen(out_, present, h, kNoTensor),
                       {steps, 1, made_.batch, units});
}

void Direction::write_steps(TensorId x, TensorId present) {
  const CellWeights weights = shared_weights();
  const TensorId sums = input_sums(x);
  CellState state{initial(kInitialH),
                  cell_.kind == Cell::Kind::lstm ? initial(kInitialC) : kNoTensor};
  std::vector<TensorId> shown(static_cast<std::size_t>(made_.steps));
  for (std::int64_t i = 0; i < made_.steps; ++i) {
    const std::int64_t t = is_reverse() ? made_.steps - 1 - i : i;
    const TensorId sum = out_.reshaped(part_along(out_, sums, 0, t, t + 1),
                                       {cell_.gates(), made_.batch, made_.units});
    CellState next = cell_step(out_, cell_, weights, sum, state);
    TensorId result = next.h;
    if (present != kNoTensor) {
      const TensorId mask = out_.reshaped(part_along(out_, present, 0, t, t + 1), {made_.batch, 1});
      result = chosen(out_, mask, next.h, kNoTensor);
      next.h = chosen(out_, mask, next.h, state.h);
      if (next.c != kNoTensor) next.c = chosen(out_, mask, next.c, state.c);
    }
    state = next;
    shown[static_cast<std::size_t>(t)] = out_.reshaped(result, {1, 1, made_.batch, made_.units});
  }
  all_ = joined_along(out_, shown, 0);
  const Shape last{1, made_.batch, made_.units};
  last_ = {out_.reshaped(state.h, last),
           state.c == kNoTensor ? kNoTensor : out_.reshaped(state.c, last)};
}

TensorId Direction::own(RecurrentPlace place, std::size_t axis, const Shape& shape) {
  const TensorId whole = widened(out_, out_.input(place));
  return out_.reshaped(part_along(out_, whole, axis, d_, d_ + 1), shape);
}

TensorId Direction::initial(RecurrentPlace place) {
  const Shape shape{made_.batch, made_.units};
  if (!out_.node().has_input(place)) {
    const DType type = computed_type(out_.node().input(kX).dtype);
    return out_.expanded(out_.scalar(type, 0.0), shape);
  }
  return own(place, made_.batch_first ? 1 : 0, shape);
}

CellWeights Direction::shared_weights() {
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
TensorId Direction::input_sums(TensorId x) {
  const std::int64_t gates = cell_.gates();
  const std::int64_t units = made_.units;
  const TensorId rows = out_.reshaped(x, {1, made_.steps * made_.batch, made_.inputs});
  const TensorId weights = out_.transposed(own(kW, 0, {gates, units, made_.inputs}), {0, 2, 1});
  TensorId sums = out_.add("MatMul", {rows, weights});
  if (out_.node().has_input(kBias)) {
    const TensorId both = own(kBias, 0, {2, gates * units});
    TensorId bias = out_.apply(ScalarOp::add,
                               {part_along(out_, both, 0, 0, 1), part_along(out_, both, 0, 1, 2)});
    if (cell_.kind == Cell::Kind::gru && cell_.resets_behind) bias = without_inner(both, bias);
    sums = out_.apply(ScalarOp::add, {sums, out_.reshaped(bias, {gates, 1, units})});
  }
  return out_.transposed(out_.reshaped(sums, {gates, made_.steps, made_.batch, units}),
                         {1, 0, 2, 3});
}

/// Of a GRU whose reset gate scales the state's sum: the hidden gate's bias of the state is
/// there.
TensorId Direction::without_inner(TensorId both, TensorId bias) {
  const std::int64_t units = made_.units;
  const TensorId of_input = part_along(out_, both, 0, 0, 1);
  return joined_along(out_,
                      {part_along(out_, bias, 1, 0, 2 * units),
                       part_along(out_, of_input, 1, 2 * units, 3 * units)},
                      1);
}

}  // namespace morton::ops
