// SPDX-License-Identifier: Apache-2.0
#include "passes/conversion/raise_rules.hpp"

#include <algorithm>

#include "passes/rewrite.hpp"

namespace morton::passes {
namespace {

Tensor whole_numbers_tensor(const std::vector<std::int64_t>& values) {
  return Tensor::from({static_cast<std::int64_t>(values.size())}, values);
}

Tensor real_number(DType type, double value) {
  Tensor tensor = Tensor::allocate(type, {});
  tensor.set(0, value);
  return tensor;
}

/// An attribute of whole numbers becomes input `i`.
void to_input(NodeRaise& raise, const std::string& attribute, std::size_t i) {
  if (!raise.has(attribute)) return;
  const auto values = integers_of(raise.node(), attribute, {});
  raise.node().attributes.erase(attribute);
  raise.set_input(i, attribute, whole_numbers_tensor(values));
}

void axes_to_input(NodeRaise& raise) { to_input(raise, "axes", 1); }

/// A real number becomes input `i`, of the data's type.
void number_to_input(NodeRaise& raise, const std::string& attribute, std::size_t i) {
  if (!raise.has(attribute)) return;
  const std::optional<DType> type = raise.input_type(0);
  if (!type) return raise.refuse("the type of its input is not known");
  const double value = real_of(raise.node(), attribute, 0.0);
  raise.node().attributes.erase(attribute);
  raise.set_input(i, attribute, real_number(*type, value));
}

void raise_clip(NodeRaise& raise) {
  number_to_input(raise, "min", 1);
  number_to_input(raise, "max", 2);
}

void raise_pad(NodeRaise& raise) {
  to_input(raise, "pads", 1);
  number_to_input(raise, "value", 2);
}

void raise_slice(NodeRaise& raise) {
  to_input(raise, "starts", 1);
  to_input(raise, "ends", 2);
  to_input(raise, "axes", 3);
}

void raise_top_k(NodeRaise& raise) {
  const std::int64_t count = integer_of(raise.node(), "k", 0);
  raise.node().attributes.erase("k");
  raise.set_input(1, "k", whole_numbers_tensor({count}));
}

void raise_dropout_mask(NodeRaise& raise) {
  if (raise.node().outputs.size() > 1) raise.refuse("its mask was of the data's type, and is bool");
}

void raise_dropout_ratio(NodeRaise& raise) {
  if (!raise.has("ratio")) return;
  const double ratio = real_of(raise.node(), "ratio", 0.5);
  raise.node().attributes.erase("ratio");
  raise.set_input(1, "ratio", real_number(DType::f32, ratio));
}

void raise_spatial(NodeRaise& raise) {
  if (integer_of(raise.node(), "spatial", 1) != 1) return raise.refuse("its spatial is 0");
  raise.node().attributes.erase("spatial");
}

void raise_batch_normalization(NodeRaise& raise) {
  if (raise.node().outputs.size() > 1) raise.refuse("it has the results of training");
}

void raise_split_count(NodeRaise& raise) {
  if (raise.has_input(1)) return;
  raise.node().attributes["num_outputs"] = static_cast<std::int64_t>(raise.node().outputs.size());
}

void raise_upsample_scales(NodeRaise& raise) {
  const auto found = raise.node().attributes.find("scales");
  const auto* values = found == raise.node().attributes.end()
                           ? nullptr
                           : std::get_if<std::vector<double>>(&found->second);
  if (values == nullptr) return raise.refuse("its scales are missing");
  const std::vector<float> scales(values->begin(), values->end());
  raise.node().attributes.erase("scales");
  raise.set_input(1, "scales", Tensor::from({static_cast<std::int64_t>(scales.size())}, scales));
}

void raise_upsample(NodeRaise& raise) {
  raise.node().op = "Resize";
  raise.note_growth();
}

/// That of Resize's version 10: up where a dimension shrinks, and else down.
std::string rounding_of(NodeRaise& raise) {
  const Tensor* scales =
      raise.has_input(1) ? constant_data(raise.graph(), raise.node().inputs[1]) : nullptr;
  if (scales == nullptr) {
    raise.refuse("its scales are not known, so neither its rounding");
    return "";
  }
  const auto values = scales->as<float>();
  if (std::ranges::all_of(values, [](float scale) { return scale >= 1.0F; })) return "floor";
  if (std::ranges::all_of(values, [](float scale) { return scale <= 1.0F; })) return "ceil";
  raise.refuse("it rounds each dimension another way");
  return "";
}

void raise_resize(NodeRaise& raise) {
  Node& node = raise.node();
  if (text_of(node, "mode", "nearest") == "nearest") {
    const std::string rounding = raise.grows() ? "floor" : rounding_of(raise);
    if (rounding.empty()) return;
    node.attributes["nearest_mode"] = rounding;
  }
  node.attributes["coordinate_transformation_mode"] = std::string("asymmetric");
  node.inputs.insert(node.inputs.begin() + 1, kNoTensor);
  raise.set_input(1, "roi", Tensor::allocate(DType::f32, {0}));
}

/// Without half a pixel less, rounded down: that is half a pixel's place, rounded with halves up.
void raise_resize_places(NodeRaise& raise) {
  Node& node = raise.node();
  if (text_of(node, "coordinate_transformation_mode", "half_pixel") != "tf_half_pixel_for_nn") {
    return;
  }
  if (text_of(node, "mode", "nearest") != "nearest" ||
      text_of(node, "nearest_mode", "round_prefer_floor") != "floor") {
    return raise.refuse("its tf_half_pixel_for_nn has a form for nearest_mode floor alone");
  }
  node.attributes["coordinate_transformation_mode"] = std::string("half_pixel");
  node.attributes["nearest_mode"] = std::string("round_prefer_ceil");
}

void raise_scatter(NodeRaise& raise) { raise.node().op = "ScatterElements"; }

void raise_grid_sample(NodeRaise& raise) {
  const std::string mode = text_of(raise.node(), "mode", "bilinear");
  if (mode == "bilinear") raise.node().attributes["mode"] = std::string("linear");
  if (mode == "bicubic") raise.node().attributes["mode"] = std::string("cubic");
}

void raise_roi_align(NodeRaise& raise) {
  raise.node().attributes["coordinate_transformation_mode"] = std::string("output_half_pixel");
}

void raise_dft(NodeRaise& raise) {
  const std::int64_t axis = integer_of(raise.node(), "axis", 1);
  raise.node().attributes.erase("axis");
  Tensor number = Tensor::allocate(DType::i64, {});
  number.set(0, static_cast<double>(axis));
  raise.set_input(2, "axis", std::move(number));
}

void raise_scan(NodeRaise& raise) { raise.refuse("version 8 scans a batch, later ones none"); }

/// Each channel of a group takes the group's number.
void raise_group_normalization(NodeRaise& raise) {
  const Shape* shape = raise.input_shape(0);
  if (shape == nullptr || shape->size() < 2 || (*shape)[1] < 0) {
    return raise.refuse("its number of channels is not known");
  }
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    const Tensor* groups =
        raise.has_input(i) ? constant_data(raise.graph(), raise.node().inputs[i]) : nullptr;
    if (groups == nullptr || groups->size() == 0) {
      return raise.refuse("its scale and shift are no constants");
    }
    const std::int64_t channels = (*shape)[1];
    Tensor each = Tensor::allocate(groups->dtype(), {channels});
    for (std::int64_t c = 0; c < channels; ++c) {
      each.set(c, groups->at(c * groups->size() / channels));
    }
    raise.set_input(i, i == 1 ? "scale" : "shift", std::move(each));
  }
}

/// Before version 13 the input is a matrix, whose rows begin at the axis.
void raise_softmax(NodeRaise& raise) {
  const std::int64_t axis = integer_of(raise.node(), "axis", 1);
  const Shape* shape = raise.input_shape(0);
  const auto rank = shape == nullptr ? 0 : static_cast<std::int64_t>(shape->size());
  raise.node().attributes["axis"] = std::int64_t{-1};
  if (axis == -1 || (rank > 0 && axis == rank - 1)) return;
  const std::optional<DType> type = raise.input_type(0);
  if (!type) return raise.refuse("the type of its input is not known");
  const TensorId input = raise.node().inputs[0];
  const TensorId rows = raise.add("Flatten", {input}, *type, {{"axis", axis}});
  const TensorId extents = raise.add("Shape", {input}, DType::i64);
  raise.node().inputs[0] = rows;
  const TensorId result = raise.replace_result(*type);
  raise.add_writing("Reshape", {raise.node().outputs[0], extents}, result);
}

/// Before version 7 the second operand's place may be told by an axis; later it is that of the last
/// dimensions.
void raise_broadcast(NodeRaise& raise) {
  const std::int64_t axis = integer_of(raise.node(), "axis", -1);
  const Shape* first = raise.input_shape(0);
  const Shape* second = raise.input_shape(1);
  if (raise.has("axis")) {
    if (first == nullptr || second == nullptr) return raise.refuse("its axis needs known shapes");
    const auto places = static_cast<std::int64_t>(first->size() - second->size());
    if (second->size() > first->size() ||
        (axis < 0 ? axis + static_cast<std::int64_t>(first->size()) : axis) != places) {
      return raise.refuse("its second operand does not stand at the end");
    }
  }
  raise.node().attributes.erase("axis");
  raise.node().attributes.erase("broadcast");
}

constexpr RaiseRule kRules[]{
    {"Add", 7, raise_broadcast},
    {"And", 7, raise_broadcast},
    {"Div", 7, raise_broadcast},
    {"Equal", 7, raise_broadcast},
    {"Gemm", 7, raise_broadcast},
    {"Greater", 7, raise_broadcast},
    {"Less", 7, raise_broadcast},
    {"Mul", 7, raise_broadcast},
    {"Or", 7, raise_broadcast},
    {"Pow", 7, raise_broadcast},
    {"Sub", 7, raise_broadcast},
    {"Xor", 7, raise_broadcast},
    {"BatchNormalization", 9, raise_spatial},
    {"BatchNormalization", 14, raise_batch_normalization},
    {"Clip", 11, raise_clip},
    {"DFT", 20, raise_dft},
    {"Dropout", 10, raise_dropout_mask},
    {"Dropout", 12, raise_dropout_ratio},
    {"GridSample", 20, raise_grid_sample},
    {"GroupNormalization", 21, raise_group_normalization},
    {"Hardmax", 13, raise_softmax},
    {"LogSoftmax", 13, raise_softmax},
    {"Pad", 11, raise_pad},
    {"ReduceL1", 18, axes_to_input},
    {"ReduceL2", 18, axes_to_input},
    {"ReduceLogSum", 18, axes_to_input},
    {"ReduceLogSumExp", 18, axes_to_input},
    {"ReduceMax", 18, axes_to_input},
    {"ReduceMean", 18, axes_to_input},
    {"ReduceMin", 18, axes_to_input},
    {"ReduceProd", 18, axes_to_input},
    {"ReduceSum", 13, axes_to_input},
    {"ReduceSumSquare", 18, axes_to_input},
    {"RoiAlign", 16, raise_roi_align},
    {"Scan", 9, raise_scan},
    {"Scatter", 11, raise_scatter},
    {"Slice", 10, raise_slice},
    {"Softmax", 13, raise_softmax},
    {"Split", 13, [](NodeRaise& raise) { to_input(raise, "split", 1); }},
    {"Split", 18, raise_split_count},
    {"Squeeze", 13, axes_to_input},
    {"TopK", 10, raise_top_k},
    {"Unsqueeze", 13, axes_to_input},
    {"Upsample", 9, raise_upsample_scales},
    {"Upsample", 10, raise_upsample},
    {"Resize", 11, raise_resize},  // behind Upsample, which becomes it
    {"Resize", 13, raise_resize_places},
};

}  // namespace

std::span<const RaiseRule> raise_rules() { return kRules; }

}  // namespace morton::passes
