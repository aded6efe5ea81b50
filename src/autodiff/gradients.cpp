// SPDX-License-Identifier: Apache-2.0
#include "autodiff/gradients.hpp"

#include "base/algebra/typed_chain.hpp"
#include "base/error.hpp"
#include "ops/core/gradient.hpp"
#include "ops/core/lowering.hpp"
#include "ops/core/operator.hpp"

namespace morton::autodiff {
namespace {

/// Walks the nodes backwards, adding up what comes back to each tensor.
class Walk {
 public:
  Walk(Graph& graph, std::span<const TensorId> wanted)
      : graph_(graph),
        nodes_(graph.nodes.size()),
        leads_(graph.tensors.size(), false),
        sums_(graph.tensors.size()) {
    for (const TensorId id : wanted) leads_[id] = true;
    for (std::size_t n = 0; n < nodes_; ++n) {
      const Node& node = graph.nodes[n];
      bool leads = false;
      for (const TensorId id : node.inputs) leads = leads || (id != kNoTensor && leads_[id]);
      for (const TensorId id : node.outputs) {
        if (id != kNoTensor && leads) leads_[id] = is_real(graph.tensor(id).dtype);
      }
    }
  }

  void start(TensorId loss, double scale, TensorId factor) {
    GraphWriter writer(graph_, graph_.tensor(loss).name + "/gradient");
    Tensor whole = Tensor::allocate(graph_.tensor(loss).dtype, graph_.tensor(loss).shape);
    for (std::int64_t i = 0; i < whole.size(); ++i) whole.set(i, scale);
    const TensorId constant = writer.constant(std::move(whole));
    sums_[loss] = factor == kNoTensor ? constant : writer.apply(ScalarOp::mul, {constant, factor});
  }

  void run() {
    for (std::size_t n = nodes_; n-- > 0;) visit(n);
  }

  [[nodiscard]] TensorId gradient_of(TensorId id) const { return sums_[id]; }

 private:
  void visit(std::size_t n) {
    const Node node = graph_.nodes[n];
    std::vector<TensorId> output_gradient;
    bool any = false;
    for (const TensorId id : node.outputs) {
      const bool leads = id != kNoTensor && leads_[id];
      output_gradient.push_back(leads ? sums_[id] : kNoTensor);
      any = any || output_gradient.back() != kNoTensor;
    }
    if (!any) return;
    if (!node.epilogue.is_identity() && node.op != "Chain") {
      throw InternalError("gradients: node '" + node.name + "' is fused already");
    }
    std::vector<bool> wanted;
    for (const TensorId id : node.inputs) wanted.push_back(id != kNoTensor && leads_[id]);
    Gradient gradient(graph_, node, output_gradient, wanted);
    differentiate(gradient);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (wanted[i] && gradient.given()[i] != kNoTensor) add(node.inputs[i], gradient.given()[i]);
    }
  }

  void add(TensorId id, TensorId gradient) {
    TensorId& sum = sums_[id];
    if (sum == kNoTensor) {
      sum = gradient;
      return;
    }
    GraphWriter writer(graph_, graph_.tensor(id).name + "/gradient");
    sum = writer.add("Add", {sum, gradient});
  }

  Graph& graph_;
  std::size_t nodes_;                 ///< of the graph as it was given
  Indexed<TensorId, bool> leads_;     ///< by tensor: whether it is a wanted one or depends on one
  Indexed<TensorId, TensorId> sums_;  ///< by tensor
};

}  // namespace

std::vector<TensorId> add_gradients(Graph& graph, TensorId loss, std::span<const TensorId> wanted,
                                    double scale, TensorId factor) {
  Walk walk(graph, wanted);
  walk.start(loss, scale, factor);
  walk.run();
  std::vector<TensorId> gradients;
  for (const TensorId id : wanted) gradients.push_back(walk.gradient_of(id));
  return gradients;
}

}  // namespace morton::autodiff
