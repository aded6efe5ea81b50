// SPDX-License-Identifier: Apache-2.0
#include "source/accessor.hpp"

#include "base/error.hpp"
#include "source/epilogue.hpp"

namespace morton {
namespace {

std::vector<Expression> padded_names(const InstanceOperand& operand) {
  std::vector<Expression> names;
  for (std::size_t d = 0; d < operand.arrangement.grouping.size(); ++d) {
    names.push_back(padded_name(operand.name, d));
  }
  return names;
}

Expression offset_in(const InstanceOperand& operand, const std::vector<Expression>& coordinates) {
  const Expression pitch = pitch_name(operand.name);
  return offset_expression(operand.arrangement.layout, coordinates, padded_names(operand),
                           operand.arrangement.pitch != 0 ? &pitch : nullptr);
}

}  // namespace

Expression padded_name(const std::string& operand, std::size_t dimension) {
  return Expression::variable(operand + "_pad" + std::to_string(dimension));
}

Expression tensor_extent_name(const std::string& operand, std::size_t dimension) {
  return Expression::variable(operand + "_dim" + std::to_string(dimension));
}

Expression pitch_name(const std::string& operand) {
  return Expression::variable(operand + "_pitch");
}

Expression batch_stride_name(const std::string& operand) {
  return Expression::variable(operand + "_batch");
}

Expression index_of_tensor_element(const InstanceOperand& operand,
                                   const std::vector<Expression>& tensor_coordinates) {
  if (tensor_coordinates.size() != operand.arrangement.tensor_shape.size()) {
    throw InternalError("source: operand " + operand.name + " lies as " +
                        print(operand.arrangement) + ", its view gives " +
                        std::to_string(tensor_coordinates.size()) + " coordinates");
  }
  std::vector<Expression> coordinates;
  for (const auto& group : operand.arrangement.grouping) {
    Expression joined(0);
    for (std::size_t i = 0; i < group.size(); ++i) {
      const auto t = static_cast<std::size_t>(group[i]);
      joined = i == 0 ? tensor_coordinates[t]
                      : joined * tensor_extent_name(operand.name, t) + tensor_coordinates[t];
    }
    coordinates.push_back(joined);
  }
  return offset_in(operand, coordinates);
}

IndexText index_of(const InstanceOperand& operand, const std::vector<Expression>& coordinates) {
  const View& view = operand.view;
  if (coordinates.size() != view.dimensions.size()) {
    throw InternalError("source: operand " + operand.name + " has " +
                        std::to_string(view.dimensions.size()) + " dimensions, got " +
                        std::to_string(coordinates.size()) + " coordinates");
  }
  // The common case: the memory is laid out in the operand's own dimensions.
  if (view.grouping && *view.grouping == operand.arrangement.grouping) {
    return {offset_in(operand, coordinates), ""};
  }
  std::map<std::string, Expression> replacements;
  for (std::size_t d = 0; d < coordinates.size(); ++d) {
    replacements.emplace(coordinate_name(view.dimensions[d]), coordinates[d]);
  }
  std::vector<Expression> tensor_coordinates;
  for (const auto& coordinate : view.coordinates) {
    tensor_coordinates.push_back(coordinate.substitute(replacements));
  }
  IndexText text{index_of_tensor_element(operand, tensor_coordinates), ""};
  if (!view.bounded) return text;
  for (std::size_t t = 0; t < tensor_coordinates.size(); ++t) {
    // One unsigned comparison checks both ends.
    text.inside += (t > 0 ? " && " : "") + ("(uint)(" + tensor_coordinates[t].to_opencl()) +
                   ") < (uint)" + tensor_extent_name(operand.name, t).to_opencl();
  }
  return text;
}

bool quads_lie_together(const InstanceOperand& operand) {
  const View& view = operand.view;
  if (view.bounded || !view.grouping || *view.grouping != operand.arrangement.grouping) {
    return false;
  }
  const auto& loops = operand.arrangement.layout.loops();
  constexpr std::int64_t kQuad = 4;
  // An extent of 0 is a whole dimension.
  return !loops.empty() && loops.back().extent % kQuad == 0 &&
         loops.back().dimension == static_cast<int>(view.dimensions.size()) - 1;
}

std::string describe_access(const InstanceOperand& operand) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < operand.arrangement.grouping.size(); ++d) {
    names.emplace_back(1, static_cast<char>('A' + static_cast<int>(d)));
  }
  std::string text = operand.name + ":" + std::string(name_of(operand.arrangement.dtype)) + " ";
  if (operand.access == InstanceOperand::Access::by_hand) return text + "by hand;";
  text += operand.arrangement.layout.print(names) + " groups";
  for (const auto& group : operand.arrangement.grouping) {
    text += " (";
    for (const int t : group) text += std::to_string(t) + ",";
    text += ")";
  }
  text += operand.arrangement.pitch != 0 ? " pitch" : "";
  text += operand.arrangement.memory == MemoryKind::image ? " image" : "";
  text += " view " + operand.view.print();
  if (operand.view.bounded) text += " outside " + float_literal(operand.view.outside);
  return text + ";";
}

}  // namespace morton
