// SPDX-License-Identifier: Apache-2.0
//
// Products with what stands around them, as ONNX Runtime's optimiser writes them into files.
#include <algorithm>

#include "base/shape.hpp"
#include "ops/composed/writing.hpp"

namespace morton::ops {
namespace {

using Attributes = GraphWriter::Attributes;

/// The attributes of `node` but those that its domain adds.
Attributes without(const NodeView& node, const std::vector<std::string_view>& added) {
  Attributes attributes = node.node().attributes;
  for (const std::string_view name : added) attributes.erase(std::string(name));
  return attributes;
}

/// The parameters of an activation, in the order alpha, beta, gamma; none where they are not given.
using Parameters = std::vector<double>;

TensorId activated(Expansion& out, TensorId value, const std::string& name,
                   const Parameters& parameters) {
  const NodeView& node = out.node();
  if (name.empty()) return value;
  const auto attributes = [&](const std::vector<std::string>& names) {
    Attributes result;
    for (std::size_t i = 0; i < std::min(names.size(), parameters.size()); ++i) {
      result[names[i]] = parameters[i];
    }
    return result;
  };
  if (name == "Relu" || name == "Tanh" || name == "Sigmoid" || name == "Softplus" ||
      name == "Softsign" || name == "HardSwish") {
    return out.add(name, {value});
  }
  if (name == "LeakyRelu" || name == "Elu" || name == "ThresholdedRelu") {
    return out.add(name, {value}, attributes({"alpha"}));
  }
  if (name == "HardSigmoid") return out.add(name, {value}, attributes({"alpha", "beta"}));
  if (name == "Clip") {
    if (parameters.size() != 2) {
      node.fail("its activation Clip has " + std::to_string(parameters.size()) +
                " parameters, expected 2");
    }
    const DType type = out.type_of(value);
    return out.add(name, {value, out.scalar(type, parameters[0]), out.scalar(type, parameters[1])});
  }
  node.unsupported("the activation '" + name + "' is not supported");
}

std::vector<TensorId> expand_fused_conv(Expansion& out) {
  const NodeView& node = out.node();
  TensorId result = out.add("Conv", {out.input(0), out.input(1), out.input(2)},
                            without(node, {"activation", "activation_params"}));
  if (node.has_input(3)) {
    require_shape(node, 3, out.shape_of(result), "what is added");
    result = out.add("Add", {result, out.input(3)});
  }
  return {activated(out, result, node.text("activation", ""), node.reals("activation_params", {}))};
}

std::vector<TensorId> expand_fused_gemm(Expansion& out) {
  const NodeView& node = out.node();
  const TensorId result = out.add(
      "Gemm", {out.input(0), out.input(1), out.input(2)},
      without(node, {"activation", "activation_alpha", "activation_beta", "activation_gamma"}));
  Parameters parameters;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (!node.has(name)) break;
    parameters.push_back(node.real(name, 0.0));
  }
  return {activated(out, result, node.text("activation", ""), parameters)};
}

/// The last two dimensions change places. With `batch` the first one goes behind the others of the
/// batch before that.
enum class Batch : std::uint8_t { stays, turned };
TensorId turned_matrices(Expansion& out, TensorId value, Batch batch, std::int64_t transposed) {
  const std::size_t rank = out.shape_of(value).size();
  if (rank < 2) return value;
  std::vector<std::int64_t> order = dimensions_between(0, rank);
  if (batch == Batch::turned) std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (transposed != 0) std::swap(order[rank - 1], order[rank - 2]);
  if (order == dimensions_between(0, rank)) return value;
  return out.transposed(value, order);
}

std::vector<TensorId> expand_fused_mat_mul(Expansion& out) {
  const NodeView& node = out.node();
  const auto operand = [&](std::size_t i, const char* matrices, const char* batch) {
    return turned_matrices(out, out.input(i), node.flag(batch, 0) ? Batch::turned : Batch::stays,
                           node.integer(matrices, 0));
  };
  const TensorId product =
      out.add("MatMul", {operand(0, "transA", "transBatchA"), operand(1, "transB", "transBatchB")});
  return {out.scaled(product, node.real("alpha", 1.0))};
}

}  // namespace

const OperatorTable& microsoft_fused_operators() {
  static const OperatorTable kTable{
      foreign_operator("com.microsoft.FusedConv", {.least = 2, .most = 4, .parameters = {1, 2}},
                       {"activation", "activation_params", "auto_pad", "dilations", "group",
                        "kernel_shape", "pads", "strides"},
                       expand_fused_conv),
      foreign_operator("com.microsoft.FusedGemm", {.least = 2, .most = 3, .parameters = {1, 2}},
                       {"activation", "activation_alpha", "activation_beta", "activation_gamma",
                        "alpha", "beta", "transA", "transB"},
                       expand_fused_gemm),
      foreign_operator("com.microsoft.FusedMatMul", {.least = 2, .most = 2, .parameters = {1}},
                       {"alpha", "transA", "transB", "transBatchA", "transBatchB"},
                       expand_fused_mat_mul),
  };
  return kTable;
}

}  // namespace morton::ops
