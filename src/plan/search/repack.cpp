// SPDX-License-Identifier: Apache-2.0
#include "plan/search/repack.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/shape.hpp"
#include "plan/cost/cost.hpp"

namespace morton::plan {

namespace {

/// Cycles in which a core of a CPU works out the place of an element with a division for each of
/// its dimensions (7.8 ns on two cores at 2.6 GHz); with those that elements of a row share left
/// out; and in which it stores, or loads, a lane of a vector alone.
constexpr double kPlaceCycles = 40.0, kPlaceInRowCycles = 20.0;
constexpr double kStoreLaneCycles = 6.0, kLoadLaneCycles = 2.0;

/// Time of so many elements on all cores of a CPU; 0 on other devices.
double cores_us(double elements, double cycles, const DeviceInfo& device) {
  constexpr double kUnknownMhz = 2000.0;
  if (device.kind != DeviceInfo::Kind::cpu) return 0.0;
  const auto known = static_cast<double>(device.compute.clock_mhz);
  const auto units = static_cast<double>(std::max<std::int64_t>(device.compute.units, 1));
  return elements * cycles / (units * (known > 0.0 ? known : kUnknownMhz));
}

/// The dimensions of the tensor along which neighbours lie; none of a single number.
JoinedDimensions innermost(const Arrangement& arrangement) {
  if (arrangement.layout.loops().empty()) return {};
  const int dimension = arrangement.layout.loops().back().dimension;
  return arrangement.grouping[static_cast<std::size_t>(dimension)];
}

bool is_row_major(const Arrangement& arrangement) {
  return same_memory(arrangement,
                     row_major_arrangement(arrangement.dtype, arrangement.tensor_shape));
}

}  // namespace

double repack_cost_us(const Arrangement& from, const Arrangement& to, const PlanContext& context) {
  const double bytes = static_cast<double>(bytes_of(from) + bytes_of(to));
  const auto elements = static_cast<double>(bytes_of(to) / size_of(to.dtype));
  const double memory_us = moving_us({.tensors = bytes}, context.device);
  const double copy_us = step_cost_us(elements, context.pack_efficiency, memory_us, context.device);
  const bool joins = innermost(to).size() > 1 &&
                     std::ranges::find(from.grouping, innermost(to)) == from.grouping.end();
  const bool regroups = joins && !is_row_major(from);
  return regroups ? copy_us + cores_us(elements, kPlaceCycles, context.device) : copy_us;
}

Demand side_demand(const Demand& dst, const Shape& shape, const Shape& tensor) {
  Demand demand;
  const bool follows = shape == tensor && dst.arrangement.tensor_shape == tensor;
  if (dst.kind == Demand::Kind::direct && follows) demand.arrangement = dst.arrangement;
  return demand;
}

namespace {

/// Whether coordinate t follows the operand's dimension t alone, as where a part is cut out.
bool keeps_dimensions(const View& view) {
  if (view.bounded || view.coordinates.size() != view.dimensions.size()) return false;
  for (std::size_t t = 0; t < view.coordinates.size(); ++t) {
    const auto used = view.coordinates[t].variables();
    for (std::size_t d = 0; d < view.dimensions.size(); ++d) {
      if (d != t && used.contains(coordinate_name(view.dimensions[d]))) return false;
    }
  }
  return true;
}

/// Whether neighbours along the operand's last dimension lie side by side.
bool lies_in_rows(const BoundProblem& bound, const std::string& role, const Arrangement& stored) {
  const View& view = bound.operands.at(role).view;
  const std::string along = coordinate_name(view.dimensions.back());
  return std::ranges::any_of(innermost(stored), [&](int dimension) {
    return view.coordinates[static_cast<std::size_t>(dimension)].variables().contains(along);
  });
}

/// What a GPU moves beyond the elements themselves where work-items go along the last dimension,
/// whose elements do not lie side by side: each access takes as much of a sector.
double sectors_us(const Arrangement& stored, const DeviceInfo& device) {
  constexpr std::int64_t kSectorBytes = 32;
  const Shape& shape = stored.tensor_shape;
  if (stored.memory != MemoryKind::buffer || shape.empty() || shape.back() < 2) return 0.0;
  Shape second(shape.size(), 0);
  const std::int64_t first = offset_of(stored, second);
  second.back() = 1;
  const std::int64_t size = size_of(stored.dtype);
  const std::int64_t step = std::abs(offset_of(stored, second) - first) * size;
  const std::int64_t more = std::min(step, kSectorBytes) - size;
  const auto bytes = static_cast<double>(element_count(shape) * std::max<std::int64_t>(0, more));
  return bytes / (memory_peak(device) * 1e3);
}

}  // namespace

bool walks_result(const BoundProblem& bound) {
  if (bound.problem.family == families::elementwise) return true;
  return bound.problem.family == families::pack &&
         keeps_dimensions(bound.operands.at("src").view) &&
         keeps_dimensions(bound.operands.at("dst").view);
}

bool walks_result(const KernelChoice& kernel) {
  return kernel.entry->operands.at("dst").is_unbound() || walks_result(*kernel.bound);
}

std::optional<Arrangement> order_along(const BoundProblem& bound, const Arrangement& result,
                                       const Shape& operand) {
  if (!walks_result(bound)) return std::nullopt;
  const bool is_copy = bound.problem.family == families::pack;
  return is_copy || result.tensor_shape == operand ? likened(result, operand) : std::nullopt;
}

std::optional<Demand> demand_along_result(const KernelChoice& kernel, const std::string& role,
                                          const Shape& tensor, const Demand& result) {
  const Demand& own = kernel.demands.at(role);
  if (own.kind != Demand::Kind::any || result.kind != Demand::Kind::direct) return std::nullopt;
  if (const OperandFormat& format = kernel.entry->operands.at(role); format.is_unbound()) {
    Demand same{Demand::Kind::direct, result.arrangement};
    same.arrangement.padding = format.padding;
    return same;
  }
  auto order = order_along(*kernel.bound, result.arrangement, tensor);
  if (!order) return std::nullopt;
  return Demand{own.kind, std::move(*order), Demand::Walk::result};
}

double side_cost_us(const Arrangement& side, const Demand& demand, const PlanContext& context) {
  const Arrangement& dst = demand.arrangement;
  if (dst.tensor_shape.empty() || side.tensor_shape != dst.tensor_shape) return 0.0;
  // Padding between rows is no other order.
  const bool alike = side.grouping == dst.grouping && side.layout == dst.layout;
  // Reading it element by element takes longer than a kernel that packs: 14 ms beside 3 for a
  // matrix of 1024 x 3136 in columns, on two cores.
  const double scattered = demand.walk == Demand::Walk::result ? 1.0 : 4.0;
  if (alike || same_memory(side, dst)) return 0.0;
  return scattered * (repack_cost_us(side, dst, context) - launch_peak_us(context.device));
}

double order_cost_us(const KernelChoice& kernel, const Arrangement& result,
                     const PlanContext& context) {
  if (kernel.once) return 0.0;
  if (context.device.kind == DeviceInfo::Kind::gpu) {
    // Numbers of four bytes were left out: their stores were not measured.
    const bool is_free = kernel.demands.at("dst").kind == Demand::Kind::any;
    if (!is_free || walks_result(kernel) || size_of(result.dtype) >= 4) return 0.0;
    return sectors_us(result, context.device);
  }
  if (context.device.kind != DeviceInfo::Kind::cpu) return 0.0;
  const BoundProblem& bound = *kernel.bound;
  const auto elements = static_cast<double>(element_count(result.tensor_shape));
  const bool is_sum = bound.problem.family == families::sum;
  if (is_sum || kernel.entry->uses("STORE_VECTOR_dst")) {
    const double cycles = is_sum ? kPlaceInRowCycles : kStoreLaneCycles;
    return lies_in_rows(bound, "dst", result) ? 0.0 : cores_us(elements, cycles, context.device);
  }
  if (bound.problem.family != families::pack || walks_result(bound)) return 0.0;
  if (innermost(result).size() < 2 || is_row_major(result)) return 0.0;
  return cores_us(elements, kPlaceCycles, context.device);
}

double lanes_us(const KernelChoice& kernel, const std::string& role, const Arrangement& stored,
                const PlanContext& context) {
  if (kernel.once || context.device.kind != DeviceInfo::Kind::cpu) return 0.0;
  if (!kernel.entry->uses("LOAD_VECTOR_" + role)) return 0.0;
  if (lies_in_rows(*kernel.bound, role, stored)) return 0.0;
  const auto elements = static_cast<double>(element_count(stored.tensor_shape));
  return cores_us(elements, kLoadLaneCycles, context.device);
}

double scattered_us(const Arrangement& stored, const Demand& demand, const PlanContext& context) {
  if (demand.kind != Demand::Kind::any || demand.walk != Demand::Walk::rows) return 0.0;
  if (context.device.kind != DeviceInfo::Kind::gpu) return 0.0;
  return sectors_us(stored, context.device);
}

BoundProblem pack_problem(TensorId source, TensorId copy, const View& view,
                          const Arrangement& arrangement, const Problem& problem,
                          Demand::Kind kind) {
  BoundProblem bound;
  bound.problem.family = families::pack;
  bound.problem.types = {
      {"src", arrangement.dtype}, {"dst", arrangement.dtype}, {"acc", arrangement.dtype}};
  const Shape extents = operand_extents(arrangement);
  const auto dimensions = numbered_dimensions(extents.size());
  for (std::size_t d = 0; d < extents.size(); ++d)
    bound.problem.extents[dimensions[d]] = extents[d];
  if (kind == Demand::Kind::packed) {
    std::vector<Expression> inner;
    for (const auto& dimension : dimensions) {
      inner.push_back(Expression::variable(coordinate_name(dimension)));
    }
    std::map<std::string, Expression> names;
    for (const auto& [name, value] : problem.structure) names.emplace(name, Expression(value));
    for (const auto& [name, value] : problem.extents) {
      names.emplace(name, Expression::variable("from_" + name));
      bound.problem.extents["from_" + name] = value;
    }
    View seen = view;
    for (auto& coordinate : seen.coordinates) coordinate = coordinate.substitute(names);
    bound.operands["src"] = {source, seen.compose(dimensions, inner, names)};
    bound.operands["dst"] = {copy, View::identity(dimensions)};
    return bound;
  }
  std::vector<Expression> tensor_extents;
  for (std::size_t t = 0; t < arrangement.tensor_shape.size(); ++t) {
    const std::string name = "T" + std::to_string(t);
    tensor_extents.push_back(Expression::variable(name));
    bound.problem.extents[name] = arrangement.tensor_shape[t];
  }
  const View grouped = View::grouped(dimensions, arrangement.grouping, tensor_extents);
  bound.operands["src"] = {source, grouped};
  bound.operands["dst"] = {copy, grouped};
  return bound;
}

}  // namespace morton::plan
