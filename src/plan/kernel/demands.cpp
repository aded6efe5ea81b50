// SPDX-License-Identifier: Apache-2.0
#include "plan/kernel/demands.hpp"

#include <algorithm>

#include "base/numbers/checked.hpp"

namespace morton::plan {
namespace {

/// True for an operand of a batch that all of its products read alike (the weights of a
/// convolution): it lies in memory once.
bool is_shared(const Entry& entry, const std::string& role, const View& view) {
  return !entry.origin.batch_of.empty() && role != "dst" && view.grouping &&
         view.grouping->front().empty();
}

/// The extents of an operand's dimensions, and those with padding where they have any.
struct OperandSizes {
  OperandSizes(const EntryValues& values, const View& view, bool is_shared) {
    extents.reserve(view.dimensions.size());
    padded.reserve(view.dimensions.size());
    for (std::size_t d = 0; d < view.dimensions.size(); ++d) {
      const bool once = is_shared && d == 0;
      extents.push_back(once ? 1 : values.size(view.dimensions[d]));
      padded.push_back(once ? 1 : values.padded(view.dimensions[d]));
    }
  }
  Shape extents;
  std::vector<std::optional<std::int64_t>> padded;
};

/// True when the view's groups cover the tensor: a step of a recipe may look at a part of it, and
/// then what lies beyond the operand's extents is data, not padding.
bool covers(const View& view, const Shape& tensor, const Shape& extents) {
  for (std::size_t d = 0; d < extents.size(); ++d) {
    std::int64_t extent = 1;
    for (const int t : (*view.grouping)[d]) extent *= tensor[static_cast<std::size_t>(t)];
    if (extent != extents[d]) return false;
  }
  return true;
}

OrReason<Demand> demand_of(const AskedKernel& asked, const std::string& role,
                           const EntryValues& values) {
  const Entry& entry = *asked.entry.entry;
  const OperandFormat& format = entry.operands.at(role);
  const Binding& binding = asked.bound->operands.at(role);
  const View& view = binding.view;
  const TaskTensor& tensor = asked.tensor(binding.tensor);
  // What packs into one layout is chosen where that is already settled.
  if (entry.family == families::pack) return Demand{};
  Demand demand;
  const auto is_inside = [&](const char* name) {
    return is_temporary(asked.bound->operands.at(name).tensor);
  };
  // What lies between a candidate's own kernels is settled before its result is.
  if (format.is_unbound() && (is_inside("src") || is_inside("dst"))) {
    demand.kind = Demand::Kind::direct;
    demand.arrangement = row_major_arrangement(tensor.dtype, tensor.shape);
    return demand;
  }
  if (format.is_any()) {
    const bool walks_rows = !format.is_unbound() && !entry.family->has_any_rank();
    if (role == "src" && walks_rows) demand.walk = Demand::Walk::rows;
    return demand;
  }
  const OperandSizes sizes(values, view, is_shared(entry, role, view));
  Arrangement& arrangement = demand.arrangement;
  arrangement.dtype = type_in_memory(format, tensor);
  arrangement.layout = values.layout(role, view.dimensions);
  arrangement.padding = format.padding;
  arrangement.memory = format.memory;
  arrangement.image_rows = format.image_rows;
  arrangement.image_texels = format.image_texels;
  if (view.grouping && covers(view, tensor.shape, sizes.extents)) {
    demand.kind = Demand::Kind::direct;
    arrangement.tensor_shape = tensor.shape;
    arrangement.grouping = *view.grouping;
  } else if (role != "dst") {
    demand.kind = Demand::Kind::packed;
    arrangement.tensor_shape = sizes.extents;
    arrangement.grouping.reserve(view.dimensions.size());
    for (std::size_t d = 0; d < view.dimensions.size(); ++d) {
      arrangement.grouping.push_back({static_cast<int>(d)});
    }
  } else {
    return ScatteredResult{view.print()};
  }
  arrangement.padded.reserve(view.dimensions.size());
  for (std::size_t d = 0; d < view.dimensions.size(); ++d) {
    // What is structure has no padded extent of its own; its layout pads it all the same.
    arrangement.padded.push_back(
        sizes.padded[d] ? *sizes.padded[d]
                        : round_up(sizes.extents[d], arrangement.layout.tile(static_cast<int>(d))));
  }
  return demand;
}

/// An operand in an image must fit the device's images.
std::optional<Reason> check_image(const std::string& role, const Arrangement& arrangement,
                                  const DeviceInfo& device) {
  if (arrangement.memory != MemoryKind::image) return std::nullopt;
  if (!device.image.supported) return NoImages{role};
  const ImageExtents extents = image_extents(arrangement);
  const ImageExtents most{device.image.max_height, device.image.max_width};
  if (extents.texels <= most.texels && extents.rows <= most.rows) return std::nullopt;
  return LargeImage{role, extents, most};
}

}  // namespace

DType type_in_memory(const OperandFormat& format, const TaskTensor& tensor) {
  if (format.stored) return *format.stored;
  const bool reaches_any = format.is_any() || format.has_accessors;
  const bool knows = reaches_any || std::ranges::count(format.types, tensor.dtype) > 0;
  return knows ? tensor.dtype : number_type(tensor);
}

std::optional<Reason> demand_all(const AskedKernel& asked, const EntryValues& values,
                                 KernelChoice& choice) {
  choice.demands.reserve(asked.bound->operands.size());
  for (const auto& [role, binding] : asked.bound->operands) {
    OrReason<Demand> demand = demand_of(asked, role, values);
    if (auto* reason = std::get_if<Reason>(&demand)) return std::move(*reason);
    const auto& known =
        choice.demands.emplace(role, std::get<Demand>(std::move(demand))).first->second;
    if (auto reason = check_image(role, known.arrangement, asked.context.device)) return reason;
  }
  return std::nullopt;
}

}  // namespace morton::plan
