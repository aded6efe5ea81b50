// SPDX-License-Identifier: Apache-2.0
#include "plan/search/instance_spec.hpp"

namespace morton::plan {
namespace {

/// A side operand's coordinates as a function of dst's tensor coordinates t0, t1, ...: NumPy's
/// rule. Where both have one element either text is right; what may grow with the inputs' shapes
/// follows dst, so that the text holds for other shapes too.
View side_view(const Shape& side, const Shape& dst, bool is_constant) {
  View view;
  for (std::size_t t = 0; t < dst.size(); ++t) view.dimensions.push_back("T" + std::to_string(t));
  for (std::size_t j = 0; j < side.size(); ++j) {
    const std::size_t missing = side.size() - j;  // counted from the last dimension
    const bool outside = missing > dst.size();
    const std::size_t t = outside ? 0 : dst.size() - missing;
    const bool one = side[j] == 1 && (is_constant || dst[t] != 1);
    view.coordinates.push_back(outside || one ? Expression(0)
                                              : Expression::variable("t" + std::to_string(t)));
  }
  return view;
}

/// A bias of 1 x O x 1 x 1 has dimensions of one element that do not follow dst.
bool has_shape_of(const SpecSide& side, const Shape& shape, const Shape& dst) {
  return shape == dst && side.arrangement.tensor_shape == dst;
}

/// The same memory described in the dimensions of the kernel's dst, if it can be: then its index is
/// dst's, and costs the epilogue no division.
Arrangement as_dst_lies(const Arrangement& side, const InstanceOperand& dst) {
  if (!dst.view.grouping || side.grouping == *dst.view.grouping) return side;
  const Grouping& grouping = *dst.view.grouping;
  const Shape align(grouping.size(), 1);
  const Arrangement rows =
      make_arrangement(side.dtype, side.tensor_shape, grouping,
                       Layout::row_major(static_cast<int>(grouping.size())), align, side.padding);
  return same_memory(side, rows) ? rows : side;
}

/// The operand as its kernel demands it: what lies there may be described in other dimensions, and
/// the text is to be the same.
void take_demanded(const Demand& demand, InstanceOperand& operand) {
  const MemoryKind memory = operand.arrangement.memory;
  operand.arrangement = demand.arrangement;
  operand.arrangement.memory = memory;
  if (demand.kind == Demand::Kind::packed) operand.view = View::identity(operand.view.dimensions);
}

}  // namespace

std::string side_name(std::size_t index) { return "side" + std::to_string(index + 1); }

InstanceSpec instance_spec(const KernelChoice& choice, const SpecPlaces& places,
                           const DeviceInfo& device) {
  InstanceSpec spec;
  spec.has_byte_addresses = device.kind != DeviceInfo::Kind::cpu;
  spec.entry = choice.entry;
  spec.tunables = *choice.tunables;
  spec.problem = choice.bound->problem;
  for (const auto& schema : spec.problem.family->operands) {
    const std::string role(schema.name);
    InstanceOperand operand;
    operand.name = role;
    operand.arrangement = places.operands.at(role);
    operand.view = choice.bound->operands.at(role).view;
    const OperandFormat& format = choice.entry->operands.at(role);
    const bool generated = (format.is_any() && !format.is_unbound()) || format.has_accessors;
    operand.access =
        generated ? InstanceOperand::Access::generated : InstanceOperand::Access::by_hand;
    if (format.has_accessors) take_demanded(choice.demands.at(role), operand);
    operand.direction = schema.role == OperandSchema::Role::input
                            ? InstanceOperand::Direction::read
                            : InstanceOperand::Direction::write;
    spec.operands.push_back(std::move(operand));
  }
  const Shape& dst = places.operands.at("dst").tensor_shape;
  for (std::size_t i = 0; i < places.sides.size(); ++i) {
    const SpecSide& given = places.sides[i];
    InstanceOperand side;
    side.name = side_name(i);
    side.arrangement = given.arrangement;
    if (has_shape_of(given, choice.bound->sides[i].shape, dst)) {
      side.arrangement = as_dst_lies(given.arrangement, spec.operands.back());
    }
    side.view = side_view(choice.bound->sides[i].shape, dst, given.is_constant);
    spec.sides.push_back(std::move(side));
  }
  return spec;
}

}  // namespace morton::plan
