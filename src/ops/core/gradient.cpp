// SPDX-License-Identifier: Apache-2.0
#include "ops/core/gradient.hpp"

#include "base/algebra/derivative.hpp"
#include "base/error.hpp"
#include "base/shape.hpp"

namespace morton::ops {

Gradient::Gradient(Graph& graph, const Node& node, std::vector<TensorId> outputs,
                   std::vector<bool> wanted)
    : GraphWriter(graph, node.name + "/gradient"),
      copy_(node),
      view_(graph, copy_),
      outputs_(std::move(outputs)),
      wanted_(std::move(wanted)),
      given_(node.inputs.size(), kNoTensor) {}

bool Gradient::wants(std::size_t input) const { return input < wanted_.size() && wanted_[input]; }

void Gradient::give(std::size_t i, TensorId gradient) {
  if (gradient == kNoTensor) return;
  const Shape& shape = shape_of(copy_.inputs.at(i));
  if (shape_of(gradient) != shape || given_.at(i) != kNoTensor) {
    throw InternalError(view_.where() + ": the gradient of input " + std::to_string(i) + " is " +
                        to_string(shape_of(gradient)) + ", the input " + to_string(shape));
  }
  given_[i] = gradient;
}

void gradient_of_chain(Gradient& gradient, const Chain& chain, const std::vector<Shape>& shapes) {
  const std::vector<TensorId>& inputs = gradient.node().node().inputs;
  std::vector<TensorId> operands{gradient.of_output()};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    // The chain does not read what is absent.
    operands.push_back(inputs[i] == kNoTensor ? gradient.of_output()
                                              : gradient.reshaped(inputs[i], shapes[i]));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!gradient.wants(i)) continue;
    const auto own = gradient_chain(chain, static_cast<int>(i));
    if (!own) continue;
    const TensorId sum = gradient.summed_to(gradient.chain(*own, operands), shapes[i]);
    gradient.give(i, gradient.reshaped(sum, gradient.shape_of(inputs[i])));
  }
}

void gradient_of_chain(Gradient& gradient, const Chain& chain) {
  std::vector<Shape> shapes;
  for (const TensorId id : gradient.node().node().inputs) {
    shapes.push_back(id == kNoTensor ? Shape{} : gradient.shape_of(id));
  }
  gradient_of_chain(gradient, chain, shapes);
}

void gradient_of_alias(Gradient& gradient) {
  if (!gradient.wants(0)) return;
  gradient.give(0, gradient.reshaped(gradient.of_output(), gradient.node().input(0).shape));
}

}  // namespace morton::ops
