// SPDX-License-Identifier: Apache-2.0
#include "plan/search/kernel_choice.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/numbers/checked.hpp"
#include "plan/lower/library_step.hpp"
#include "plan/policy/tunables.hpp"
#include "plan/search/cost.hpp"

namespace morton::plan {
namespace {

std::int64_t operand_bytes(const BoundProblem& bound, const TaskList& tasks,
                           const std::vector<TaskTensor>& temporaries) {
  std::int64_t bytes = 0;
  for (const auto& [role, binding] : bound.operands) {
    const TaskTensor& tensor = tensor_at(binding.tensor, tasks, temporaries);
    bytes += element_count(tensor.shape) * size_of(tensor.dtype);
  }
  for (const auto& side : bound.sides) {
    const DType type = tensor_at(side.tensor, tasks, temporaries).dtype;
    bytes += element_count(side.shape) * size_of(type);
  }
  return bytes;
}

/// True when the view's groups cover the tensor: a step of a recipe may look at a part of it, and
/// then what lies beyond the operand's extents is data, not padding.
bool covers(const View& view, const Shape& tensor, const Environment& names) {
  for (std::size_t d = 0; d < view.dimensions.size(); ++d) {
    std::int64_t extent = 1;
    for (const int t : (*view.grouping)[d]) extent *= tensor[static_cast<std::size_t>(t)];
    if (extent != names.find(view.dimensions[d])->second) return false;
  }
  return true;
}

/// True for an operand of a batch that all of its products read alike (the weights of a
/// convolution): it lies in memory once.
bool is_shared(const Entry& entry, const std::string& role, const View& view) {
  return !entry.batch_of.empty() && role != "dst" && view.grouping &&
         view.grouping->front().empty();
}

Demand demand_of(const Entry& entry, const std::string& role, const BoundProblem& bound,
                 const TaskTensor& tensor, Environment names) {
  const OperandFormat& format = entry.operands.at(role);
  const View& view = bound.operands.at(role).view;
  // What packs into one layout is chosen where that is already settled.
  if (entry.family == families::pack) return {};
  Demand demand;
  if (format.is_any()) {
    if (role == "src" && !entry.family->has_any_rank()) demand.walk = Demand::Walk::rows;
    return demand;
  }
  if (is_shared(entry, role, view)) {
    for (const char* suffix : {"", "_pad"}) names[view.dimensions.front() + suffix] = 1;
  }
  Arrangement& arrangement = demand.arrangement;
  arrangement.dtype = format.stored.value_or(tensor.dtype);
  arrangement.layout = layout_of(format, view.dimensions, names);
  arrangement.rim = format.rim;
  arrangement.memory = format.memory;
  arrangement.image_rows = format.image_rows;
  arrangement.image_texels = format.image_texels;
  if (view.grouping && covers(view, tensor.shape, names)) {
    demand.kind = Demand::Kind::direct;
    arrangement.tensor_shape = tensor.shape;
    arrangement.grouping = *view.grouping;
  } else if (role != "dst") {
    demand.kind = Demand::Kind::packed;
    for (std::size_t d = 0; d < view.dimensions.size(); ++d) {
      arrangement.tensor_shape.push_back(names.find(view.dimensions[d])->second);
      arrangement.grouping.push_back({static_cast<int>(d)});
    }
  } else {
    throw UnsupportedError("its result would have to be scattered through " + view.print());
  }
  for (std::size_t d = 0; d < view.dimensions.size(); ++d) {
    const auto padded = names.find(view.dimensions[d] + "_pad");
    // What is structure has no padded extent of its own; its layout pads it all the same.
    arrangement.padded.push_back(padded != names.end()
                                     ? padded->second
                                     : round_up(names.find(view.dimensions[d])->second,
                                                arrangement.layout.tile(static_cast<int>(d))));
  }
  return demand;
}

/// A kernel of a family of any rank walks the memory of dst, all of it, or the rows of the problem,
/// which may be a part of dst.
void check_part(const Entry& entry, const BoundProblem& bound) {
  if (!entry.operands.at("dst").is_any()) return;
  const bool walks_memory = entry.code.find("COORDINATES_OF_dst") != std::string::npos;
  const bool is_part = !bound.operands.at("dst").view.grouping;
  if (is_part && walks_memory) throw UnsupportedError("it writes the whole of its result");
  if (!is_part && writes_parts(entry)) throw UnsupportedError("it writes a part of its result");
}

void check_operands(const Entry& entry, const Problem& problem, const PlanOptions& options) {
  for (const auto& [role, format] : entry.operands) {
    if (format.stored && *format.stored != options.precision) {
      const std::string name(name_of(*format.stored));
      throw UnsupportedError("it keeps " + role + " as " + name + ", which needs the precision " +
                             name);
    }
    const auto type = problem.types.find(role);
    if (type == problem.types.end()) continue;
    if (std::find(format.types.begin(), format.types.end(), type->second) == format.types.end()) {
      throw UnsupportedError("its operand " + role + " cannot be " +
                             std::string(name_of(type->second)));
    }
  }
}

/// Doubles are an option of OpenCL 1.2.
void check_doubles(const BoundProblem& bound, const PlanContext& context,
                   const std::vector<TaskTensor>& temporaries) {
  if (context.device.fp64) return;
  const auto& steps = bound.problem.epilogue.steps;
  bool used = std::any_of(steps.begin(), steps.end(), [](const ScalarStep& step) {
    return facts_of(step.op).typing == ScalarTyping::convert && step.target == DType::f64;
  });
  const auto is_double = [&](int tensor) {
    return tensor_at(tensor, context.tasks, temporaries).dtype == DType::f64;
  };
  for (const auto& [role, binding] : bound.operands) used = used || is_double(binding.tensor);
  for (const auto& side : bound.sides) used = used || is_double(side.tensor);
  if (used) throw UnsupportedError("it computes with f64; the device lacks cl_khr_fp64");
}

/// An operand in an image must fit the device's images.
void check_image(const std::string& role, const Arrangement& arrangement,
                 const DeviceInfo& device) {
  if (!device.images) {
    throw UnsupportedError("its operand " + role + " lies in an image; the device has none");
  }
  const ImageExtents extents = image_extents(arrangement);
  if (extents.texels > device.image_max_width || extents.rows > device.image_max_height) {
    throw UnsupportedError(
        "its operand " + role + " would be an image of " + std::to_string(extents.texels) + " x " +
        std::to_string(extents.rows) + " texels; the device's are at most " +
        std::to_string(device.image_max_width) + " x " + std::to_string(device.image_max_height));
  }
}

/// What the kernel moves through memory.
double bytes_moved(const Entry& entry, const BoundProblem& bound, const Environment& names,
                   const PlanContext& context, const std::vector<TaskTensor>& temporaries) {
  const std::int64_t stated = entry.bytes.evaluate(names);
  return static_cast<double>(stated != 0 ? stated
                                         : operand_bytes(bound, context.tasks, temporaries));
}

/// The kernel with these values of its tunables.
KernelChoice choose_with(const ChosenTunables& chosen, const Entry& entry,
                         const BoundProblem& bound, const PlanContext& context,
                         const std::vector<TaskTensor>& temporaries) {
  KernelChoice choice;
  choice.entry = &entry;
  choice.tunables = chosen.values;
  choice.tunables_from = chosen.from;
  choice.bound = bound;
  require_library(entry, context.options);
  check_operands(entry, bound.problem, context.options);
  check_part(entry, bound);
  check_doubles(bound, context, temporaries);
  check_verdicts(entry, chosen.values, context.device, context.options);
  const TaskTensor& dst = tensor_at(tensor_of(bound, "dst"), context.tasks, temporaries);
  const Environment names = entry_environment(entry, bound.problem, choice.tunables, context.device,
                                              element_count(dst.shape));
  for (const auto& condition : entry.require) {
    if (condition.evaluate(names) == 0) {
      throw UnsupportedError("it requires " + condition.print());
    }
  }
  require_host_pays(entry, context.device, context.options);
  const LaunchSize size = launch_size(entry, names, context.device);
  Environment padded = names;
  for (const auto& [role, binding] : bound.operands) {
    const TaskTensor& tensor = tensor_at(binding.tensor, context.tasks, temporaries);
    choice.demands[role] = demand_of(entry, role, bound, tensor, names);
    if (choice.demands[role].arrangement.memory == MemoryKind::image) {
      check_image(role, choice.demands[role].arrangement, context.device);
    }
  }
  // A kernel that computes its padding works on the padded extents.
  if (entry.edges == Entry::Edges::pad) {
    for (const auto& [extent, value] : bound.problem.extents) {
      padded[extent] = names.find(extent + "_pad")->second;
    }
  }
  const bool tuned = chosen.origin == ChosenTunables::Origin::tuned;
  choice.efficiency = tuned ? chosen.efficiency : efficiency_of(entry, context.device);
  if (dst.kind == TaskTensor::Kind::derived) {
    choice.once = true;
    return choice;
  }
  // What was measured is a share of the peak on the problem's own operations.
  const auto flop = static_cast<double>((tuned ? entry.flop : entry.work).evaluate(padded));
  const double bytes = chosen.exact ? 0.0 : bytes_moved(entry, bound, names, context, temporaries);
  choice.estimated_us =
      runs_on_host(entry) && host_is_measured(context.device)
          ? host_step_cost_us(flop, bytes, context.device)
          : step_cost_us(flop, choice.efficiency * busy_share(size, context.device),
                         bytes / asked_share(size, context.device), context.device);
  return choice;
}

}  // namespace

bool writes_parts(const Entry& entry) {
  return entry.code.find("COORDINATES_OF_ROW") != std::string::npos;
}

const TaskTensor& tensor_at(int id, const TaskList& tasks,
                            const std::vector<TaskTensor>& temporaries) {
  return id >= kFirstTemporary ? temporaries[static_cast<std::size_t>(id - kFirstTemporary)]
                               : tasks.tensors[static_cast<std::size_t>(id)];
}

KernelChoice choose_entry(const Entry& entry, const BoundProblem& bound, const std::string& name,
                          const PlanContext& context, const std::vector<TaskTensor>& temporaries) {
  const Environment* decided = decided_tunables(entry, context.decision);
  const ChosenTunables tuned = tuned_tunables(entry, bound, context.device, context.options);
  std::string note = tuned.from.empty() ? "" : " (" + tuned.from + ")";
  const bool as_decided = decided == nullptr || tuned.values == *decided;
  if (tuned.origin == ChosenTunables::Origin::tuned && as_decided) {
    try {
      KernelChoice choice = choose_with(tuned, entry, bound, context, temporaries);
      choice.name = name;
      return choice;
    } catch (const UnsupportedError& error) {
      note =
          " (" + tuned.from + ": " + print_tunables(tuned.values) + ", but " + error.what() + ")";
    }
  }
  ChosenTunables chosen = choose_tunables(entry, context.options);
  chosen.from += note;
  if (decided != nullptr && chosen.values != *decided) {
    chosen.values = *decided;
    chosen.from = "as it is built";
  }
  KernelChoice choice = choose_with(chosen, entry, bound, context, temporaries);
  choice.name = name;
  return choice;
}

}  // namespace morton::plan
