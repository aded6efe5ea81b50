// SPDX-License-Identifier: Apache-2.0
#include "base/shape.hpp"
#include "ops/core/operator.hpp"
#include "ops/math/summation.hpp"
#include "ops/recurrent/recurrent_gradient.hpp"
#include "ops/recurrent/sequence_node.hpp"

namespace morton::ops {
namespace {

using Structure = problems::RecurrenceStructure;

constexpr auto kOperand = [](int i) { return ScalarRef::input(i); };

Chain one_step(ScalarOp op) {
  Chain chain;
  chain.append(op, {kOperand(0)});
  return chain;
}

Chain sigmoid_chain() {
  Chain chain;
  const ScalarRef half = chain.append(ScalarOp::mul, {kOperand(0), ScalarRef::constant(0.5)});
  const ScalarRef bent = chain.append(ScalarOp::tanh, {half});
  const ScalarRef scaled = chain.append(ScalarOp::mul, {bent, ScalarRef::constant(0.5)});
  chain.append(ScalarOp::add, {scaled, ScalarRef::constant(0.5)});
  return chain;
}

/// a * b + c * d, and with three inputs (1 - a) * b + a * c.
Chain weighted_chain(int inputs) {
  Chain chain;
  chain.input_count = inputs;
  const bool is_mean = inputs == 3;
  const ScalarRef rest =
      is_mean ? chain.append(ScalarOp::sub, {ScalarRef::constant(1.0), kOperand(0)}) : kOperand(0);
  const ScalarRef left = chain.append(ScalarOp::mul, {rest, kOperand(1)});
  const ScalarRef right = chain.append(
      ScalarOp::mul, {is_mean ? kOperand(0) : kOperand(2), is_mean ? kOperand(2) : kOperand(3)});
  chain.append(ScalarOp::add, {left, right});
  return chain;
}

Bounded apply(const Chain& chain, std::initializer_list<Bounded> inputs) {
  return chain.evaluate(std::span(inputs.begin(), inputs.size()));
}

Bounded sigmoid(const Bounded& x) {
  static const Chain kChain = sigmoid_chain();
  return apply(kChain, {x});
}

Bounded tanh_of(const Bounded& x) {
  static const Chain kChain = one_step(ScalarOp::tanh);
  return apply(kChain, {x});
}

Bounded product(const Bounded& a, const Bounded& b) {
  static const Chain kChain = [] {
    Chain chain;
    chain.input_count = 2;
    chain.append(ScalarOp::mul, {kOperand(0), kOperand(1)});
    return chain;
  }();
  return apply(kChain, {a, b});
}

Bounded two_products(const Bounded& a, const Bounded& b, const Bounded& c, const Bounded& d) {
  static const Chain kChain = weighted_chain(4);
  return apply(kChain, {a, b, c, d});
}

/// (1 - share) * a + share * b.
Bounded between(const Bounded& share, const Bounded& a, const Bounded& b) {
  static const Chain kChain = weighted_chain(3);
  return apply(kChain, {share, a, b});
}

/// One sequence, whose steps are taken one after the other, with bounds of a device's rounding.
class BoundedSequence {
 public:
  using States = std::vector<Bounded>;

  BoundedSequence(const RecurrentSequence& made, std::span<const ReferenceTensor> inputs,
                  std::int64_t n)
      : made_(made), inputs_(inputs), n_(n) {
    for (std::int64_t p = 0; p < made.structure.states(); ++p) {
      States part;
      for (std::int64_t u = 0; u < made.units; ++u) {
        part.push_back(at(kFirst, (p * made.sequences + n) * made.units + u));
      }
      parts_.push_back(part);
    }
    if (made.structure.cell == SequenceCell::gru) parts_.push_back(parts_[0]);
  }

  void step(std::int64_t t) {
    t_ = t;
    before_ = parts_[0];
    const bool is_step = static_cast<double>(t) < inputs_[kSequenceLengths].value[index(n_)];
    if (made_.structure.cell == SequenceCell::gru) {
      parts_[1] = before_;
      for (std::int64_t u = 0; is_step && u < made_.units; ++u) {
        parts_[1][index(u)] = product(sigmoid(sum(1, u)), before_[index(u)]);
      }
    }
    for (std::int64_t u = 0; is_step && u < made_.units; ++u) parts_[0][index(u)] = next(u);
  }

  /// h; of an LSTM c, of `gru` what the reset gate lets through.
  [[nodiscard]] const std::vector<States>& parts() const { return parts_; }

 private:
  [[nodiscard]] static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

  [[nodiscard]] Bounded at(std::size_t input, std::int64_t i) const {
    return {inputs_[input].value[index(i)], inputs_[input].error[index(i)]};
  }

  [[nodiscard]] Bounded of_input(std::int64_t gate, std::int64_t u) const {
    return at(kSums, ((t_ * made_.sequences + n_) * made_.gates + gate) * made_.units + u);
  }

  void add_state(BoundedSum& sum, std::int64_t gate, std::int64_t u, const States& state) const {
    const std::int64_t row = gate * made_.units + u;
    sum.add(at(kGateBias, row));
    for (std::int64_t k = 0; k < made_.units; ++k) {
      sum.add_product(at(kWeights, row * made_.units + k), state[index(k)]);
    }
  }

  [[nodiscard]] Bounded sum(std::int64_t gate, std::int64_t u, const States& state) const {
    BoundedSum sum;
    sum.add(of_input(gate, u));
    add_state(sum, gate, u, state);
    return sum.result();
  }
  [[nodiscard]] Bounded sum(std::int64_t gate, std::int64_t u) const {
    return sum(gate, u, before_);
  }

  [[nodiscard]] Bounded hidden(std::int64_t u) const {
    if (made_.structure.cell == SequenceCell::gru) return tanh_of(sum(2, u, parts_[1]));
    BoundedSum own;
    add_state(own, 2, u, before_);
    BoundedSum sum;
    sum.add(of_input(2, u));
    sum.add_product(sigmoid(this->sum(1, u)), own.result());
    return tanh_of(sum.result());
  }

  [[nodiscard]] Bounded next(std::int64_t u) {
    switch (made_.structure.cell) {
      case SequenceCell::tanh:
        return tanh_of(sum(0, u));
      case SequenceCell::relu: {
        const Bounded total = sum(0, u);
        return {total.value > 0.0 ? total.value : 0.0, total.error};
      }
      case SequenceCell::gru:
      case SequenceCell::gru_behind:
        return between(sigmoid(sum(0, u)), hidden(u), before_[index(u)]);
      case SequenceCell::lstm:
        break;
    }
    Bounded& cell = parts_[1][index(u)];
    cell = two_products(sigmoid(sum(2, u)), cell, sigmoid(sum(0, u)), tanh_of(sum(3, u)));
    return product(sigmoid(sum(1, u)), tanh_of(cell));
  }

  const RecurrentSequence& made_;
  std::span<const ReferenceTensor> inputs_;
  std::int64_t n_ = 0;
  std::int64_t t_ = 0;
  States before_;
  std::vector<States> parts_;
};

Shape shape_of_states(const RecurrentSequence& made) {
  return {made.structure.results(), made.steps, made.sequences, made.units};
}

ReferenceTensor reference_sequence(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const RecurrentSequence made = recurrent_sequence_of(node);
  ReferenceTensor result;
  result.shape = shape_of_states(made);
  result.value.resize(static_cast<std::size_t>(element_count(result.shape)));
  result.error = result.value;
  for (std::int64_t n = 0; n < made.sequences; ++n) {
    BoundedSequence sequence(made, inputs, n);
    for (std::int64_t i = 0; i < made.steps; ++i) {
      const std::int64_t t = made.structure.from == Structure::From::back ? made.steps - 1 - i : i;
      sequence.step(t);
      auto row = static_cast<std::size_t>((t * made.sequences + n) * made.units);
      for (const BoundedSequence::States& part : sequence.parts()) {
        for (std::size_t u = 0; u < part.size(); ++u) {
          result.value[row + u] = part[u].value;
          result.error[row + u] = part[u].error;
        }
        row += static_cast<std::size_t>(made.steps * made.sequences * made.units);
      }
    }
  }
  return result;
}

BoundProblem lower_sequence(const NodeView& node) {
  const RecurrentSequence made = recurrent_sequence_of(node);
  BoundProblem bound;
  bound.problem.family = families::recurrence;
  bound.problem.structure = numbers_of(made.structure);
  bound.problem.extents = {{"T", made.steps},
                           {"N", made.sequences},
                           {"G", made.gates},
                           {"U", made.units},
                           {"K", made.units},
                           {"P", made.structure.states()},
                           {"S", made.structure.results()}};
  bound.operands["sums"] = {node.input_id(kSums), View::identity({"T", "N", "G", "U"})};
  bound.operands["weights"] = {node.input_id(kWeights), View::identity({"G", "U", "K"})};
  bound.operands["bias"] = {node.input_id(kGateBias), View::identity({"G", "U"})};
  bound.operands["first"] = {node.input_id(kFirst), View::identity({"P", "N", "U"})};
  bound.operands["lengths"] = {node.input_id(kSequenceLengths), View::identity({"N"})};
  bound.operands["dst"] = {node.output_id(), View::identity({"S", "T", "N", "U"})};
  return bound;
}

}  // namespace

/// Not of ONNX: the states of all steps of an RNN, a GRU or an LSTM in one direction, with ONNX's
/// standard functions (problems/sequences/recurrence.hpp). RNN, GRU and LSTM are composed of it.
const Operator& operator_RecurrentSequence() {
  static const Operator kOperator{
      .name = "RecurrentSequence",
      .inputs = {.least = 5, .most = 5, .parameters = {kWeights, kGateBias}},
      .attributes = {"cell", "reverse"},
      .since_opset = 1,
      .infer =
          [](const NodeView& node) {
            return std::vector<TensorType>{
                {node.input(kSums).dtype, shape_of_states(recurrent_sequence_of(node))}};
          },
      .host = {.reference = reference_sequence},
      .lower = lower_sequence,
      .types = {DType::f32, DType::i64},
      .takes_epilogue = false,
      .gradient = gradient_of_recurrent_sequence,
      .home = Operator::Home::inside,
  };
  return kOperator;
}

}  // namespace morton::ops
