// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_lists.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "base/error.hpp"
#include "formats/input_file.hpp"

namespace morton::formats {
namespace {

constexpr std::array<std::string_view, 8> kModes{"BRANCH_LEQ",    "BRANCH_LT", "BRANCH_GTE",
                                                 "BRANCH_GT",     "BRANCH_EQ", "BRANCH_NEQ",
                                                 "BRANCH_MEMBER", "LEAF"};
constexpr const char* kModesName = "nodes_modes";

}  // namespace

bool keeps_lists_as_tensors(const std::string& op) {
  return op.starts_with(std::string(kMlDomain) + ".TreeEnsemble");
}

bool is_long_list(const onnx::AttributeProto& proto) {
  return proto.type() == onnx::AttributeProto::INTS ||
         proto.type() == onnx::AttributeProto::FLOATS ||
         (proto.type() == onnx::AttributeProto::STRINGS && proto.name() == kModesName);
}

Tensor to_tensor_list(const onnx::AttributeProto& proto, const std::string& where) {
  if (proto.type() == onnx::AttributeProto::INTS) {
    Tensor list = Tensor::allocate(DType::i64, {proto.ints_size()});
    std::ranges::copy(proto.ints(), list.as_mutable<std::int64_t>().begin());
    return list;
  }
  if (proto.type() == onnx::AttributeProto::FLOATS) {
    Tensor list = Tensor::allocate(DType::f32, {proto.floats_size()});
    std::ranges::copy(proto.floats(), list.as_mutable<float>().begin());
    return list;
  }
  Tensor modes = Tensor::allocate(DType::u8, {proto.strings_size()});
  const std::span<std::uint8_t> numbers = modes.as_mutable<std::uint8_t>();
  for (int i = 0; i < proto.strings_size(); ++i) {
    const auto* const place = std::ranges::find(kModes, proto.strings(i));
    if (place == kModes.end()) {
      throw ModelError(where + ": the mode of node " + std::to_string(i) + " is " +
                       in_quotes(proto.strings(i)));
    }
    numbers[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(place - kModes.begin());
  }
  return modes;
}

Attribute as_in_file(const Node& node, const std::string& name, const Attribute& value) {
  const auto* tensor = std::get_if<Tensor>(&value);
  if (tensor == nullptr || !keeps_lists_as_tensors(node.op)) return value;
  if (tensor->dtype() == DType::i64) {
    const auto numbers = tensor->as<std::int64_t>();
    return std::vector<std::int64_t>(numbers.begin(), numbers.end());
  }
  // TreeEnsemble itself has tensors of reals and of modes.
  if (node.op.ends_with("TreeEnsemble")) return value;
  if (tensor->dtype() == DType::f32 && !name.ends_with("_as_tensor")) {
    const auto numbers = tensor->as<float>();
    return std::vector<double>(numbers.begin(), numbers.end());
  }
  if (name != kModesName) return value;
  std::vector<std::string> modes;
  for (const std::uint8_t mode : tensor->as<std::uint8_t>()) {
    modes.emplace_back(kModes.at(mode));
  }
  return modes;
}

}  // namespace morton::formats
