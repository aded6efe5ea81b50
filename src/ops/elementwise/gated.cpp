// SPDX-License-Identifier: Apache-2.0
//
// Activations that are the input times a gate.
#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/elementwise/table.hpp"

namespace morton::ops {
namespace {

/// x * tanh(log(1 + exp(x))).
Chain mish_chain(const NodeView& /*node*/) {
  Chain chain;
  const ScalarRef x = ScalarRef::input(0);
  const SoftplusTerms terms = append_softplus(chain, x);
  const ScalarRef sum = chain.append(ScalarOp::add, {terms.positive, terms.rest});
  const ScalarRef gate = chain.append(ScalarOp::tanh, {sum});
  chain.append(ScalarOp::mul, {x, gate});
  return chain;
}

/// Appends alpha * x, and 1 / (1 + exp(-alpha * x)), whose exp may overflow: then the gate is 0.
struct SigmoidGate {
  ScalarRef scaled, gate;
};
SigmoidGate append_gate(Chain& chain, ScalarRef x, double alpha) {
  const ScalarRef scaled = chain.append(ScalarOp::mul, {x, ScalarRef::constant(alpha)});
  const ScalarRef negated = chain.append(ScalarOp::neg, {scaled});
  const ScalarRef power = chain.append(ScalarOp::exp, {negated});
  const ScalarRef divisor = chain.append(ScalarOp::add, {ScalarRef::constant(1.0), power});
  return {scaled, chain.append(ScalarOp::div, {ScalarRef::constant(1.0), divisor})};
}

/// x / (1 + exp(-alpha * x)).
Chain swish_chain(const NodeView& node) {
  Chain chain;
  const ScalarRef x = ScalarRef::input(0);
  const SigmoidGate parts = append_gate(chain, x, node.real("alpha", 1.0));
  chain.append(ScalarOp::mul, {x, parts.gate});
  return chain;
}

/// dX = dY g (1 + alpha x (1 - g)), g being the gate. The chain's own derivative is infinity times
/// 0 where exp overflows.
void gradient_of_swish(Gradient& gradient) {
  Chain chain;
  chain.input_count = 2;
  const ScalarRef one = ScalarRef::constant(1.0);
  const double alpha = gradient.node().real("alpha", 1.0);
  const SigmoidGate parts = append_gate(chain, ScalarRef::input(1), alpha);
  const ScalarRef closed = chain.append(ScalarOp::sub, {one, parts.gate});
  const ScalarRef bend = chain.append(ScalarOp::mul, {parts.scaled, closed});
  const ScalarRef sum = chain.append(ScalarOp::add, {one, bend});
  const ScalarRef slope = chain.append(ScalarOp::mul, {parts.gate, sum});
  chain.append(ScalarOp::mul, {ScalarRef::input(0), slope});
  gradient.give(0, gradient.chain(chain, {gradient.of_output(), gradient.node().input_id(0)}));
}

std::vector<ElementwiseRow> gated_rows() {
  return {
      {"Mish", 18, real_types, mish_chain},
      {"Swish",
       24,
       real_types,
       swish_chain,
       {.attributes = {"alpha"}, .gradient = gradient_of_swish}},
  };
}

}  // namespace

const OperatorTable& gated_operators() {
  static const OperatorTable kTable = elementwise_table(kOneInput, gated_rows());
  return kTable;
}

}  // namespace morton::ops
