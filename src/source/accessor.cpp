// SPDX-License-Identifier: Apache-2.0
#include "source/accessor.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "source/element.hpp"
#include "source/epilogue.hpp"
#include "source/instance_writer.hpp"

namespace morton::source {
namespace {

std::vector<Expression> padded_names(const InstanceOperand& operand) {
  std::vector<Expression> names;
  for (std::size_t d = 0; d < operand.arrangement.grouping.size(); ++d) {
    names.push_back(padded_name(operand.name, d));
  }
  return names;
}

Expression offset_in(const InstanceOperand& operand, const std::vector<Expression>& coordinates,
                     const std::vector<Expression>& padded) {
  const Expression pitch = pitch_name(operand.name);
  return offset_expression(operand.arrangement.layout, coordinates, padded,
                           operand.arrangement.pitch != 0 ? &pitch : nullptr);
}

/// The operand's coordinates from those of its tensor.
std::vector<Expression> joined(const InstanceOperand& operand,
                               const std::vector<Expression>& tensor_coordinates) {
  std::vector<Expression> coordinates;
  for (const auto& group : operand.arrangement.grouping) {
    Expression whole(0);
    for (std::size_t i = 0; i < group.size(); ++i) {
      const auto t = static_cast<std::size_t>(group[i]);
      whole = i == 0 ? tensor_coordinates[t]
                     : whole * tensor_extent_name(operand.name, t) + tensor_coordinates[t];
    }
    coordinates.push_back(whole);
  }
  return coordinates;
}

/// Whether dimension `d` of a side operand's memory is one element, and is one at any shapes: what
/// is read there does not follow dst. A bias of O x 1 x 1 is then seen to be O neighbours.
bool is_one(const InstanceOperand& side, std::size_t d) {
  if (side.arrangement.padded[d] != 1) return false;
  const auto& group = side.arrangement.grouping[d];
  return std::all_of(group.begin(), group.end(), [&](int t) {
    return side.view.coordinates[static_cast<std::size_t>(t)] == Expression(0);
  });
}

/// Whether the side operand's element is that of dst's at the same coordinates of the tensor. Told
/// from the texts alone: an instance is known by them and may serve other extents.
bool follows_dst(const InstanceOperand& side, const View& dst) {
  const auto& coordinates = side.view.coordinates;
  if (coordinates.size() != dst.coordinates.size()) return false;
  for (std::size_t t = 0; t < coordinates.size(); ++t) {
    if (!(coordinates[t] == Expression::variable("t" + std::to_string(t)))) return false;
  }
  return dst.grouping && *dst.grouping == side.arrangement.grouping;
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
  return offset_in(operand, joined(operand, tensor_coordinates), padded_names(operand));
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
    std::vector<Expression> within = coordinates;
    // What all products of a batch read lies there once.
    const bool is_batch = !within.empty() && within[0] == Expression::variable(kBatch);
    if (is_batch && operand.arrangement.grouping[0].empty()) within[0] = Expression(0);
    return {offset_in(operand, within, padded_names(operand)), "", {}};
  }
  std::map<std::string, Expression> replacements;
  for (std::size_t d = 0; d < coordinates.size(); ++d) {
    replacements.emplace(coordinate_name(view.dimensions[d]), coordinates[d]);
  }
  std::vector<Expression> tensor_coordinates;
  for (const auto& coordinate : view.coordinates) {
    tensor_coordinates.push_back(coordinate.substitute(replacements));
  }
  IndexText text{index_of_tensor_element(operand, tensor_coordinates), "", {}};
  if (!view.bounded) return text;
  text.tensor_coordinates = tensor_coordinates;
  for (std::size_t t = 0; t < tensor_coordinates.size(); ++t) {
    // One unsigned comparison checks both ends.
    text.inside += (t > 0 ? " && " : "") + ("(uint)(" + tensor_coordinates[t].to_opencl()) +
                   ") < (uint)" + tensor_extent_name(operand.name, t).to_opencl();
  }
  return text;
}

SideIndex index_of_side(const InstanceOperand& side, const View& dst,
                        const std::vector<Expression>& coordinates) {
  if (follows_dst(side, dst)) {
    const Loop& last = side.arrangement.layout.loops().back();
    if (last.extent == 0) {
      return {Expression(0), offset_in(side, coordinates, padded_names(side))};
    }
    const Expression tile(last.extent);
    std::vector<Expression> first = coordinates;
    Expression& along = first[static_cast<std::size_t>(last.dimension)];
    const Expression within = along % tile;
    along = along / tile * tile;
    return {offset_in(side, first, padded_names(side)), within};
  }
  std::map<std::string, Expression> replacements;
  for (std::size_t d = 0; d < coordinates.size(); ++d) {
    replacements.emplace(coordinate_name(dst.dimensions[d]), coordinates[d]);
  }
  std::map<std::string, Expression> by_position;
  for (std::size_t t = 0; t < dst.coordinates.size(); ++t) {
    by_position.emplace("t" + std::to_string(t), dst.coordinates[t].substitute(replacements));
  }
  std::vector<Expression> tensor_coordinates;
  for (const auto& coordinate : side.view.coordinates) {
    tensor_coordinates.push_back(coordinate.substitute(by_position));
  }
  std::vector<Expression> padded = padded_names(side);
  for (std::size_t d = 0; d < padded.size(); ++d) {
    if (is_one(side, d)) padded[d] = Expression(1);
  }
  return {Expression(0), offset_in(side, joined(side, tensor_coordinates), padded)};
}

bool lie_together(const InstanceOperand& operand, std::int64_t count) {
  const View& view = operand.view;
  if (view.bounded || !view.grouping || *view.grouping != operand.arrangement.grouping) {
    return false;
  }
  const auto& loops = operand.arrangement.layout.loops();
  // An extent of 0 is a whole dimension.
  return !loops.empty() && loops.back().extent % count == 0 &&
         loops.back().dimension == static_cast<int>(view.dimensions.size()) - 1;
}

bool lies_in_order(const InstanceOperand& operand) {
  const View& view = operand.view;
  const Arrangement& memory = operand.arrangement;
  if (view.bounded || !view.grouping || view.grouping->empty()) return false;
  if (memory.memory == MemoryKind::image || !std::ranges::is_sorted(view.grouping->back())) {
    return false;
  }
  std::vector<int> order;
  for (const Loop& loop : memory.layout.loops()) {
    if (loop.extent != 0) return false;
    const auto& group = memory.grouping[static_cast<std::size_t>(loop.dimension)];
    order.insert(order.end(), group.begin(), group.end());
  }
  return std::ranges::is_sorted(order);
}

ElementPlace place_of(const InstanceOperand& operand, const std::string& array,
                      const std::string& index, bool counts_bytes) {
  const std::int64_t size = size_of(operand.arrangement.dtype);
  const bool fits = counts_bytes && elements_of(operand.arrangement) * size <=
                                        std::numeric_limits<std::uint32_t>::max();
  if (!fits) return {array, index};
  const bool reads = operand.direction == InstanceOperand::Direction::read;
  const std::string memory = reads ? "__global const " : "__global ";
  return {"((" + memory + std::string(memory_type(operand.arrangement.dtype)) + "*)((" + memory +
              "char*)" + array + " + (uint)(" + index + ") * " + std::to_string(size) + "u))",
          "0"};
}

std::vector<MacroText> vector_macros(const InstanceOperand& operand, const ElementPlace& place,
                                     const std::string& coordinates, int lanes, FourStores stores) {
  const std::string& name = operand.name;
  const DType type = operand.arrangement.dtype;
  const auto& [array, index] = place;
  const std::string last = coordinate_name(operand.view.dimensions.back());
  const std::string others = coordinates.substr(0, coordinates.size() - last.size());
  const auto at = [&](int i) { return "(" + others + "(" + last + ") + " + std::to_string(i); };
  const bool together = lanes > 0 && type == DType::f32 && lie_together(operand, lanes);
  if (operand.direction == InstanceOperand::Direction::read) {
    std::string load = "(*(__global const vector*)(" + array + " + " + index + "))";
    if (!together) {
      load = "(vector)(";
      for (int i = 0; i < lanes; ++i) load += (i > 0 ? ", LOAD_" : "LOAD_") + name + at(i) + ")";
      load += ")";
    }
    return {{"LOAD_VECTOR_" + name, "(" + coordinates + ")", load}};
  }
  const auto one_by_one = [&](const std::string& vector, int count) {
    constexpr const char* kDigits = "0123456789abcdef";
    std::string body = "do { const " + vector + " morton_vector = (v); ";
    for (int i = 0; i < count; ++i) {
      body += "STORE_" + name + at(i) + ", morton_vector.s" + kDigits[i] + "); ";
    }
    return body + "} while (0)";
  };
  const bool at_once = lie_together(operand, 4) || (stores.has_test && lies_in_order(operand));
  std::string store4 = at_once ? store4_text(type, array, index, "(v)") : "";
  if (at_once && stores.as_a_type && type == DType::f32) {
    store4 = "(*(__global " + std::string(kFloat4) + "*)(" + array + " + " + index + ") = (v))";
  }
  if (store4.empty()) store4 = one_by_one("float4", 4);
  const std::string store = together ? "(*(__global vector*)(" + array + " + " + index + ") = (v))"
                                     : one_by_one("vector", lanes);
  return {{"STORE4_" + name, "(" + coordinates + ", v)", store4},
          {"STORE_VECTOR_" + name, "(" + coordinates + ", v)", store}};
}

}  // namespace morton::source
