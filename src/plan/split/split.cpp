// SPDX-License-Identifier: Apache-2.0
#include "plan/split/split.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "base/shape.hpp"
#include "plan/cost/cost.hpp"
#include "plan/ir/verify.hpp"
#include "plan/lower/memory.hpp"
#include "plan/make_plan.hpp"
#include "plan/policy/kernel_policy.hpp"

namespace morton::plan {
namespace {

std::int64_t batch_of(std::span<const SplitPart> parts) {
  return std::accumulate(parts.begin(), parts.end(), std::int64_t{0},
                         [](std::int64_t sum, const SplitPart& part) { return sum + part.rows; });
}

/// Where a part's input of shape `part` has other extents than the whole's.
std::vector<std::size_t> other_extents(const Shape& whole, const Shape& part) {
  std::vector<std::size_t> dimensions;
  for (std::size_t d = 0; d < whole.size(); ++d) {
    if (whole[d] != part[d]) dimensions.push_back(d);
  }
  return dimensions;
}

/// Where inputs have a row for each item of the batch; the others are the same for every part.
std::vector<RowDimension> rows_of_inputs(const Graph& whole, std::span<const SplitPart> parts) {
  const std::int64_t batch = batch_of(parts);
  std::vector<RowDimension> rows;
  for (std::size_t i = 0; i < whole.inputs.size(); ++i) {
    const GraphTensor& input = whole.tensor(whole.inputs[i]);
    const auto shape_in = [i](const SplitPart& part) -> const Shape& {
      return part.graph.tensor(part.graph.inputs[i]).shape;
    };
    const std::vector<std::size_t> cut = other_extents(input.shape, shape_in(parts.front()));
    const auto fits = [&](const SplitPart& part) {
      Shape expected = input.shape;
      if (!cut.empty()) expected[cut.front()] = part.rows;
      return shape_in(part) == expected;
    };
    const bool one_cut = cut.empty() || (cut.size() == 1 && input.shape[cut.front()] == batch);
    if (!one_cut || !std::ranges::all_of(parts, fits)) {
      throw UnsupportedError("split: input '" + input.name + "' " + to_string(input.shape) +
                             " has the batch of " + std::to_string(batch) +
                             " in more than one extent, so it cannot be cut; use one device");
    }
    rows.push_back(cut.empty() ? RowDimension() : RowDimension(cut.front()));
  }
  return rows;
}

/// Joins the plans of the parts.
class PlanMerger {
 public:
  PlanMerger(const Graph& whole, std::span<const SplitPart> parts, PortRows rows)
      : whole_(whole), parts_(parts), rows_(std::move(rows)) {
    add_ports(whole.inputs, Value::Kind::input, plan_.inputs);
    add_ports(whole.outputs, Value::Kind::output, plan_.outputs);
  }

  /// Plans of all parts, in order.
  Plan run(std::vector<Plan> plans) {
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const DeviceIndex device = devices_.add(parts_[i].device);
      add(std::move(plans[i]), device);
      first_row_ += parts_[i].rows;
    }
    for (auto* steps : {&scatters_, &computing_, &gathers_}) {
      plan_.steps.insert(plan_.steps.end(), std::make_move_iterator(steps->begin()),
                         std::make_move_iterator(steps->end()));
    }
    place_memory(plan_, devices_);
    verify(plan_, devices_);
    return std::move(plan_);
  }

 private:
  Value& value_at(ValueId value) { return plan_.values[value]; }

  void add_ports(const std::vector<TensorId>& ids, Value::Kind kind, std::vector<Port>& ports) {
    for (const TensorId id : ids) {
      const GraphTensor& tensor = whole_.tensor(id);
      Value value;
      value.name = tensor.name;
      value.kind = kind;
      value.arrangement = row_major_arrangement(tensor.dtype, tensor.shape);
      ports.push_back({tensor.name, plan_.values.add(std::move(value))});
    }
  }

  void add(Plan part, DeviceIndex device) {
    const ValueId first_value = plan_.values.next_id();
    const Shift shift{device, plan_.values.size(), plan_.instances.size()};
    plan_.devices.add(part.devices.front());
    for (Value& value : part.values) {
      value.device = device;
      value.memory_of = value.memory_of.moved(shift.values);
      plan_.values.add(std::move(value));
    }
    for (Step& step : part.load_steps) {
      plan_.load_steps.push_back(moved(std::move(step), shift));
    }
    for (Step& step : part.steps) computing_.push_back(moved(std::move(step), shift));
    for (auto& group : part.programs) {
      for (InstanceId& instance : group) instance = instance.moved(shift.instances);
      plan_.programs.push_back(std::move(group));
    }
    for (InstanceSource& instance : part.instances) plan_.instances.add(std::move(instance));
    for (const auto& text : part.considered) {
      plan_.considered.push_back("device " + std::to_string(device.index()) + ": " + text);
    }
    std::ranges::move(part.left_out, std::back_inserter(plan_.left_out));
    for (std::size_t i = 0; i < part.inputs.size(); ++i) {
      scatter(plan_.inputs[i].value, part.inputs[i].value.moved(shift.values), rows_.inputs[i]);
    }
    for (std::size_t i = 0; i < part.outputs.size(); ++i) {
      gather(part.outputs[i].value.moved(shift.values), plan_.outputs[i].value, rows_.outputs[i]);
    }
    // The caller sees the whole ports alone: what does not lie in them lies between steps.
    for (const ValueId v : plan_.values.ids_from(first_value)) {
      if (memory_root(plan_.values, v) < first_value) continue;
      Value::Kind& kind = plan_.values[v].kind;
      const bool port = kind == Value::Kind::input || kind == Value::Kind::output;
      if (port) kind = Value::Kind::activation;
    }
  }

  /// How the ids of a part's plan change in the whole's.
  struct Shift {
    DeviceIndex device;
    std::size_t values = 0, instances = 0;  ///< so many are there before the part's
  };

  /// A step of a part's plan as one of the whole's.
  static Step moved(Step step, const Shift& shift) {
    step.device = shift.device;
    if (auto* launch = std::get_if<KernelLaunch>(&step.action)) {
      launch->instance = launch->instance.moved(shift.instances);
    }
    for (auto* list : {&step.reads, &step.writes}) {
      for (ValueId& value : *list) value = value.moved(shift.values);
    }
    for (StepArgument& argument : step.arguments) {
      auto* passed = std::get_if<PassedValue>(&argument.passed);
      if (passed != nullptr) passed->id = passed->id.moved(shift.values);
    }
    return step;
  }

  void scatter(ValueId whole, ValueId part, RowDimension rows) {
    const Stretches stretches = stretches_of(whole, part, rows);
    if (value_at(part).device == kFirstDevice && stretches.count == 1) {
      value_at(part).memory_of = whole;
      return;
    }
    scatters_.push_back(
        make_step("scatter", {whole, part, stretches.offset_bytes, 0, stretches.bytes,
                              stretches.count, stretches.pitch_bytes, stretches.bytes}));
  }

  void gather(ValueId part, ValueId whole, std::size_t rows) {
    const Stretches stretches = stretches_of(whole, part, rows);
    const ValueId root = memory_root(plan_.values, part);
    const bool on_first = value_at(part).device == kFirstDevice;
    if (on_first && root == whole) return;
    const Value::Kind kind = value_at(root).kind;
    const bool free = kind != Value::Kind::input && !is_fixed(value_at(root)) &&
                      root >= ValueId(plan_.inputs.size() + plan_.outputs.size());
    if (on_first && free && stretches.count == 1) {
      value_at(root).memory_of = whole;
      return;
    }
    gathers_.push_back(
        make_step("gather", {part, whole, 0, stretches.offset_bytes, stretches.bytes,
                             stretches.count, stretches.bytes, stretches.pitch_bytes}));
  }

  /// The rows of the part that is being added, in a whole input or output.
  struct Stretches {
    std::int64_t offset_bytes, bytes, count, pitch_bytes;
  };
  Stretches stretches_of(ValueId whole, ValueId part, RowDimension rows) {
    const std::int64_t part_bytes = bytes_of(value_at(part).arrangement);
    const Arrangement& arrangement = value_at(whole).arrangement;
    const std::int64_t whole_bytes = bytes_of(arrangement);
    if (!rows) return {0, part_bytes, 1, whole_bytes};
    const Shape& shape = arrangement.tensor_shape;
    std::int64_t count = 1;
    for (std::size_t d = 0; d < *rows; ++d) count *= std::max<std::int64_t>(1, shape[d]);
    const std::int64_t pitch_bytes = whole_bytes / count;
    return {pitch_bytes / shape[*rows] * first_row_, part_bytes / count, count, pitch_bytes};
  }

  Step make_step(const std::string& action, const Transfer& transfer) {
    Step step;
    step.kernel = "transfer";
    step.name = action + " " + value_at(transfer.from).name;
    step.problem = to_string(value_at(transfer.from).arrangement.tensor_shape) + " to " +
                   to_string(value_at(transfer.to).arrangement.tensor_shape);
    step.reason = "inputs and outputs lie whole on device 0";
    step.device = value_at(transfer.to).device;
    step.action = transfer;
    step.reads = {transfer.from};
    step.writes = {transfer.to};
    step.cost.bytes = step.cost.logical_bytes = step.cost.footprint_bytes =
        2 * transfer.all_bytes();
    // Through the host: read from the one, then written to the other.
    for (const ValueId value : {transfer.from, transfer.to}) {
      const DeviceInfo& device = devices_[value_at(value).device];
      const double memory_us =
          static_cast<double>(transfer.all_bytes()) / (memory_peak(device) * 1e3);
      step.cost.estimated_us += step_cost_us(0.0, 1.0, memory_us, device);
    }
    return step;
  }

  const Graph& whole_;
  std::span<const SplitPart> parts_;
  PortRows rows_;
  Devices devices_;             ///< of the parts that are added
  std::int64_t first_row_ = 0;  ///< of the part that is being added
  std::vector<Step> scatters_, computing_, gathers_;
  Plan plan_;
};

}  // namespace

PortRows port_rows(const Graph& whole, std::span<const SplitPart> parts) {
  for (const GraphTensor& tensor : whole.tensors) {
    if (tensor.kind != GraphTensor::Kind::state) continue;
    throw UnsupportedError("split: the model keeps '" + tensor.name +
                           "' from run to run, which several devices cannot share; use one");
  }
  PortRows rows{rows_of_inputs(whole, parts), {}};
  rows.outputs = require_independent_rows(make_tasks(whole), rows.inputs, batch_of(parts));
  return rows;
}

Plan make_split_plan(const Graph& whole, std::span<const SplitPart> parts,
                     const KernelPolicy& policy) {
  if (parts.size() < 2) throw InternalError("split: there is nothing to split over one device");
  PortRows rows = port_rows(whole, parts);
  const KernelPolicy of_parts = policy.for_one_of_several_devices();
  std::vector<Plan> plans;
  for (const SplitPart& part : parts) {
    plans.push_back(make_plan(part.graph, part.device, of_parts));
  }
  return PlanMerger(whole, parts, std::move(rows)).run(std::move(plans));
}

}  // namespace morton::plan
