// SPDX-License-Identifier: Apache-2.0
//
// Control flow, lists of tensors, and operators whose results have as many elements as the data
// say: all of it is written out by passes/shapes/control_flow.hpp and
// passes/shapes/late_extents.hpp, node by node, while shapes are inferred.
#include "base/error.hpp"
#include "base/rooms.hpp"
#include "ops/core/operator.hpp"

namespace morton::ops {
namespace {

std::vector<TensorType> never_inferred(const NodeView& node) {
  throw InternalError(node.where() + " was to be written out (passes/shapes/control_flow.hpp)");
}

Operator control_row(std::string_view name, std::size_t least, std::size_t most,
                     std::vector<std::size_t> planned, std::vector<std::string_view> attributes,
                     std::int64_t since_opset) {
  return {.name = name,
          .inputs = {.least = least, .most = most, .planned = std::move(planned)},
          .attributes = std::move(attributes),
          .since_opset = since_opset,
          .infer = never_inferred,
          .host = {.is_control = true}};
}

}  // namespace

const OperatorTable& control_flow_operators() {
  static const OperatorTable kTable{
      control_row("If", 1, kAnyNumber, {0}, {}, 7),
      control_row("Loop", 0, kAnyNumber, {0, 1}, {}, 7),
      control_row("Scan", 0, kAnyNumber, {},
                  {"num_scan_inputs", "scan_input_axes", "scan_input_directions",
                   "scan_output_axes", "scan_output_directions", "directions"},
                  8),
      control_row("SequenceMap", 1, kAnyNumber, {}, {}, 17),
      control_row("SequenceEmpty", 0, 0, {}, {"dtype"}, 11),
      control_row("SequenceConstruct", 1, kAnyNumber, {}, {}, 11),
      control_row("SequenceInsert", 2, 3, {2}, {}, 11),
      control_row("SequenceErase", 1, 2, {1}, {}, 11),
      control_row("SequenceAt", 2, 2, {1}, {}, 11),
      control_row("SequenceLength", 1, 1, {}, {}, 11),
      control_row("SplitToSequence", 1, 2, {1}, {"axis", "keepdims"}, 11),
      control_row("ConcatFromSequence", 1, 1, {}, {"axis", "new_axis"}, 11),
      control_row("Optional", 0, 1, {}, {"type"}, 15),
      control_row("OptionalGetElement", 1, 1, {}, {}, 15),
      control_row("OptionalHasElement", 0, 1, {}, {}, 15),
      control_row("NonZero", 1, 1, {}, {}, 9),
      control_row("Compress", 2, 2, {}, {"axis"}, 9),
      control_row("Unique", 1, 1, {}, {"axis", "sorted"}, 11),
      control_row("NonMaxSuppression", 2, 5, {}, {"center_point_box"}, 10),
  };
  return kTable;
}

}  // namespace morton::ops
