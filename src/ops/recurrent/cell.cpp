// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/cell.hpp"

#include <algorithm>
#include <cctype>

#include "ops/composed/writing.hpp"

namespace morton::ops {
namespace {

struct FunctionFacts {
  std::string_view name;
  std::optional<double> alpha, beta;  ///< by default, of functions that have it
};

/// ONNX leaves most defaults to the operators of these names; Affine and ScaledTanh have none, and
/// take those of ONNX Runtime.
constexpr FunctionFacts kFunctions[] = {
    {"relu", {}, {}},         {"tanh", {}, {}},          {"sigmoid", {}, {}},
    {"affine", 1.0, 0.0},     {"leakyrelu", 0.01, {}},   {"thresholdedrelu", 1.0, {}},
    {"scaledtanh", 1.0, 1.0}, {"hardsigmoid", 0.2, 0.5}, {"elu", 1.0, {}},
    {"softsign", {}, {}},     {"softplus", {}, {}},
};

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::vector<std::string> names_of_functions(const NodeView& node, const Cell& cell) {
  const auto found = node.node().attributes.find("activations");
  if (found != node.node().attributes.end()) {
    if (const auto* names = std::get_if<std::vector<std::string>>(&found->second)) return *names;
    node.fail("its activations are no list of names");
  }
  const std::vector<std::string> all{cell.kind == Cell::Kind::rnn ? "Tanh" : "Sigmoid", "Tanh",
                                     "Tanh"};
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(cell.activation_count())};
}

/// The next number of a list, which ends where the defaults begin.
double taken(const std::vector<double>& list, std::size_t& next, double otherwise) {
  return next < list.size() ? list[next++] : otherwise;
}

/// Appends steps to a chain.
class CellChain {
 public:
  CellChain(const Cell& cell, int inputs) : cell_(cell) { chain_.input_count = inputs; }

  [[nodiscard]] static ScalarRef number(double value) { return ScalarRef::constant(value); }
  ScalarRef apply(ScalarOp op, ScalarRef a) { return chain_.append(op, {a}); }
  ScalarRef apply(ScalarOp op, ScalarRef a, ScalarRef b) { return chain_.append(op, {a, b}); }
  ScalarRef sum(ScalarRef a, ScalarRef b) { return apply(ScalarOp::add, a, b); }
  ScalarRef product(ScalarRef a, ScalarRef b) { return apply(ScalarOp::mul, a, b); }
  [[nodiscard]] const Chain& chain() const { return chain_; }

  /// Activation number `which` of the cell, of x clipped.
  ScalarRef activate(std::size_t which, ScalarRef x) {
    if (cell_.clip) {
      x = apply(ScalarOp::min, apply(ScalarOp::max, x, number(-*cell_.clip)), number(*cell_.clip));
    }
    return function(cell_.activations[which], x);
  }

 private:
  ScalarRef positive(ScalarRef x, ScalarRef otherwise) {
    const ScalarRef is_negative = apply(ScalarOp::less, x, number(0.0));
    return chain_.append(ScalarOp::select, {is_negative, otherwise, x});
  }

  ScalarRef function(const CellActivation& one, ScalarRef x) {
    const ScalarRef alpha = number(one.alpha);
    const ScalarRef beta = number(one.beta);
    if (one.name == "tanh") return apply(ScalarOp::tanh, x);
    if (one.name == "sigmoid") {
      // By way of tanh: no power overflows, in its slope neither.
      const ScalarRef half = apply(ScalarOp::tanh, product(x, number(0.5)));
      return sum(product(half, number(0.5)), number(0.5));
    }
    if (one.name == "relu") return apply(ScalarOp::max, x, number(0.0));
    if (one.name == "affine") return sum(product(x, alpha), beta);
    if (one.name == "leakyrelu") return positive(x, product(x, alpha));
    if (one.name == "thresholdedrelu") {
      const ScalarRef is_above = apply(ScalarOp::less, alpha, x);
      return chain_.append(ScalarOp::select, {is_above, x, number(0.0)});
    }
    if (one.name == "scaledtanh") return product(apply(ScalarOp::tanh, product(x, beta)), alpha);
    if (one.name == "hardsigmoid") {
      const ScalarRef line = sum(product(x, alpha), beta);
      return apply(ScalarOp::min, apply(ScalarOp::max, line, number(0.0)), number(1.0));
    }
    if (one.name == "elu") return positive(x, product(apply(ScalarOp::expm1, x), alpha));
    if (one.name == "softsign") {
      return apply(ScalarOp::div, x, sum(number(1.0), apply(ScalarOp::abs, x)));
    }
    // Softplus, whose power does not overflow: max(x, 0) + log(1 + exp(-|x|)).
    const ScalarRef power = apply(ScalarOp::exp, apply(ScalarOp::neg, apply(ScalarOp::abs, x)));
    return sum(apply(ScalarOp::max, x, number(0.0)), apply(ScalarOp::log1p, power));
  }

  const Cell& cell_;
  Chain chain_;
};

constexpr auto kIn = [](int i) { return ScalarRef::input(i); };

/// Gate number `i` of gates x N x H, as N x H.
TensorId gate(GraphWriter& out, TensorId gates, std::int64_t i) {
  const Shape shape = out.shape_of(gates);
  return out.reshaped(part_along(out, gates, 0, i, i + 1), {shape[1], shape[2]});
}

/// What the previous state adds to the gates from `first` to before `end`.
TensorId of_state(GraphWriter& out, TensorId recurrent, TensorId h, std::int64_t first,
                  std::int64_t end) {
  const Shape shape = out.shape_of(h);
  return out.add("MatMul", {out.reshaped(h, {1, shape[0], shape[1]}),
                            part_along(out, recurrent, 0, first, end)});
}

CellState rnn_step(GraphWriter& out, const Cell& cell, const CellWeights& weights, TensorId input,
                   const CellState& before) {
  CellChain step(cell, 2);
  step.activate(0, step.sum(kIn(0), kIn(1)));
  const TensorId own = of_state(out, weights.recurrent, before.h, 0, 1);
  return {gate(out, out.chain(step.chain(), {own, input}), 0), kNoTensor};
}

/// A gate of a GRU: f of two sums.
TensorId gru_gate(GraphWriter& out, const Cell& cell, TensorId own, TensorId input) {
  CellChain step(cell, 2);
  step.activate(0, step.sum(kIn(0), kIn(1)));
  return out.chain(step.chain(), {own, input});
}

CellState gru_step(GraphWriter& out, const Cell& cell, const CellWeights& weights, TensorId input,
                   const CellState& before) {
  constexpr std::int64_t kUpdate = 0;
  constexpr std::int64_t kReset = 1;
  constexpr std::int64_t kHidden = 2;
  const std::int64_t count = cell.resets_behind ? 3 : 2;
  const TensorId own = of_state(out, weights.recurrent, before.h, 0, count);
  const TensorId update = gru_gate(out, cell, gate(out, own, kUpdate), gate(out, input, kUpdate));
  const TensorId reset = gru_gate(out, cell, gate(out, own, kReset), gate(out, input, kReset));
  TensorId hidden = kNoTensor;
  if (cell.resets_behind) {
    // The reset gate scales the state's sum, bias included.
    CellChain step(cell, 4);
    const bool has_bias = weights.inner != kNoTensor;
    const ScalarRef sum = has_bias ? step.sum(kIn(1), kIn(3)) : kIn(1);
    step.activate(1, step.sum(kIn(0), step.product(kIn(2), sum)));
    hidden = out.chain(step.chain(), {gate(out, input, kHidden), gate(out, own, kHidden), reset,
                                      has_bias ? weights.inner : reset});
  } else {
    const TensorId kept = out.apply(ScalarOp::mul, {reset, before.h});
    const TensorId sum = gate(out, of_state(out, weights.recurrent, kept, kHidden, kHidden + 1), 0);
    CellChain step(cell, 2);
    step.activate(1, step.sum(kIn(0), kIn(1)));
    hidden = out.chain(step.chain(), {sum, gate(out, input, kHidden)});
  }
  // (1 - z) * hidden + z * h
  CellChain step(cell, 3);
  const ScalarRef rest = step.apply(ScalarOp::sub, CellChain::number(1.0), kIn(0));
  step.sum(step.product(rest, kIn(1)), step.product(kIn(0), kIn(2)));
  return {out.chain(step.chain(), {update, hidden, before.h}), kNoTensor};
}

CellState lstm_step(GraphWriter& out, const Cell& cell, const CellWeights& weights, TensorId input,
                    const CellState& before) {
  const TensorId gates =
      out.apply(ScalarOp::add, {of_state(out, weights.recurrent, before.h, 0, 4), input});
  const auto& peepholes = weights.peepholes;
  const bool peeps = peepholes[0] != kNoTensor;
  // c = f * c' + i * g, of the sums of i, o, f and g in ONNX's order.
  CellChain next(cell, 6);
  const auto looking = [&](CellChain& step, ScalarRef sum, ScalarRef state, int peephole) {
    return peeps ? step.sum(sum, step.product(state, kIn(peephole))) : sum;
  };
  const ScalarRef i = next.activate(0, looking(next, kIn(0), kIn(3), 4));
  const ScalarRef f = cell.input_forget ? next.apply(ScalarOp::sub, CellChain::number(1.0), i)
                                        : next.activate(0, looking(next, kIn(1), kIn(3), 5));
  const ScalarRef g = next.activate(1, kIn(2));
  next.sum(next.product(f, kIn(3)), next.product(i, g));
  const TensorId first = gate(out, gates, 0);
  CellState after;
  after.c = out.chain(next.chain(), {first, gate(out, gates, 2), gate(out, gates, 3), before.c,
                                     peeps ? peepholes[0] : first, peeps ? peepholes[2] : first});
  // h = o * h(c)
  CellChain shown(cell, 3);
  const ScalarRef o = shown.activate(0, looking(shown, kIn(0), kIn(1), 2));
  shown.product(o, shown.activate(2, kIn(1)));
  after.h =
      out.chain(shown.chain(), {gate(out, gates, 1), after.c, peeps ? peepholes[1] : after.c});
  return after;
}

}  // namespace

std::int64_t Cell::gates() const {
  switch (kind) {
    case Kind::rnn:
      return 1;
    case Kind::gru:
      return 3;
    case Kind::lstm:
      return 4;
  }
  return 0;
}

std::size_t Cell::activation_count() const {
  return kind == Kind::lstm ? 3 : kind == Kind::gru ? 2 : 1;
}

std::vector<CellActivation> cell_activations(const NodeView& node, const Cell& cell,
                                             std::size_t d) {
  const std::vector<std::string> names = names_of_functions(node, cell);
  const std::vector<double> alphas = node.reals("activation_alpha", {});
  const std::vector<double> betas = node.reals("activation_beta", {});
  const std::size_t count = cell.activation_count();
  // A list for one direction serves both.
  const std::size_t first = names.size() > count ? d * count : 0;
  if (names.size() < first + count) {
    node.fail("it names " + std::to_string(names.size()) + " activations, expected " +
              std::to_string(count) + " for each direction");
  }
  std::vector<CellActivation> activations;
  std::size_t next_alpha = 0;
  std::size_t next_beta = 0;
  for (std::size_t i = 0; i < first + count; ++i) {
    CellActivation one{lower_case(names[i]), 0.0, 0.0};
    const auto* facts = std::ranges::find(kFunctions, one.name, &FunctionFacts::name);
    if (facts == std::end(kFunctions)) {
      node.fail("the activation '" + names[i] + "' is unknown; ONNX has Relu, Tanh, Sigmoid, " +
                "Affine, LeakyRelu, ThresholdedRelu, ScaledTanh, HardSigmoid, Elu, Softsign and " +
                "Softplus");
    }
    // The lists have a number for each function that takes one.
    if (facts->alpha) one.alpha = taken(alphas, next_alpha, *facts->alpha);
    if (facts->beta) one.beta = taken(betas, next_beta, *facts->beta);
    if (i >= first) activations.push_back(one);
  }
  return activations;
}

CellState cell_step(GraphWriter& out, const Cell& cell, const CellWeights& weights, TensorId input,
                    const CellState& before) {
  switch (cell.kind) {
    case Cell::Kind::rnn:
      return rnn_step(out, cell, weights, input, before);
    case Cell::Kind::gru:
      return gru_step(out, cell, weights, input, before);
    case Cell::Kind::lstm:
      return lstm_step(out, cell, weights, input, before);
  }
  return {};
}

}  // namespace morton::ops
