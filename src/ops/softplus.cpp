// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/elementwise.hpp"

namespace morton::ops {
namespace {

/// log(1 + exp(x)) as max(x, 0) + log(1 + exp(-|x|)), whose exp cannot overflow.
Chain softplus_chain(const NodeView& /*node*/) {
  Chain chain;
  const SoftplusTerms terms = append_softplus(chain, ScalarRef::input(0));
  chain.append(ScalarOp::add, {terms.positive, terms.rest});
  return chain;
}

}  // namespace

const Operator& operator_Softplus() {
  static const Operator kOperator{
      .name = "Softplus",
      .since_opset = 1,
      .chain = softplus_chain,
      .types = real_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
