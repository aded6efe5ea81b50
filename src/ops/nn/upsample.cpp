// SPDX-License-Identifier: Apache-2.0
#include "base/algebra/typed_chain.hpp"
#include "base/rooms.hpp"
#include "ops/signals/resizing.hpp"

namespace morton::ops {
namespace {

std::vector<float> scales_attribute(const NodeView& node) {
  const auto found = node.node().attributes.find("scales");
  if (found == node.node().attributes.end()) node.fail("the attribute 'scales' is missing");
  const auto* scales = std::get_if<std::vector<double>>(&found->second);
  if (scales == nullptr) node.fail("attribute 'scales' should be a list of real numbers");
  std::vector<float> rounded;
  for (const double scale : *scales) rounded.push_back(static_cast<float>(scale));
  return rounded;
}

/// Opset 7 has the scales as an attribute, 9 as input 1; 10 has Resize in its place.
Resizing upsampling_of(const NodeView& node) {
  std::vector<float> scales;
  if (node.opset() < 9) {
    scales = scales_attribute(node);
  } else {
    if (!node.has_input(1)) node.fail("the scales (input 1) are missing");
    const Tensor& given = node.value(1);
    if (given.dtype() != DType::f32) {
      node.fail("the scales are " + std::string(name_of(given.dtype())) + ", expected f32");
    }
    const auto values = given.as<float>();
    scales.assign(values.begin(), values.end());
  }
  for (const float scale : scales) {
    if (scale < 1.0F) node.fail("a scale is " + std::to_string(scale) + ", expected 1 or more");
  }
  Resizing resizing;
  resizing.kind = resizing_kind(node, node.text("mode", "nearest"));
  resizing.of_integers = !is_real(node.input(0).dtype);
  resizing.axes = axes_of_scales(node, "asymmetric", scales);
  resizing.scales.assign(scales.begin(), scales.end());
  return resizing;
}

}  // namespace

const Operator& operator_Upsample() {
  static const Operator kOperator{
      .name = "Upsample",
      .inputs = {.least = 1, .most = 2, .planned = {1}},
      .attributes = {"mode", "scales"},
      .infer = [](const NodeView& node) { return infer_resizing(node, upsampling_of(node)); },
      .host = {.reference =
                   [](const NodeView& node, std::span<const ReferenceTensor> inputs) {
                     return reference_resizing(node, upsampling_of(node), inputs[0]);
                   }},
      .lower = [](const NodeView& node) { return lower_resizing(node, upsampling_of(node)); },
      .expand =
          [](Expansion& expansion) {
            return expand_resizing(expansion, upsampling_of(expansion.node()));
          },
      .types = {DType::f32, DType::i64, DType::i32, DType::u8, DType::i8},
      .gradient =
          [](Gradient& gradient) {
            gradient_of_resizing(gradient, upsampling_of(gradient.node()));
          },
  };
  return kOperator;
}

}  // namespace morton::ops
