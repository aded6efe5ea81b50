// SPDX-License-Identifier: Apache-2.0
#include "plan/split/split.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "base/shape.hpp"
#include "plan/cost/cost.hpp"
#include "plan/ir/verify.hpp"
#include "plan/lower/memory.hpp"
#include "plan/make_plan.hpp"
#include "plan/policy/kernel_policy.hpp"
#include "plan/tasks/batch_rows.hpp"

namespace morton::plan {
namespace {

std::int64_t batch_of(std::span<const SplitPart> parts) {
  return std::accumulate(parts.begin(), parts.end(), std::int64_t{0},
                         [](std::int64_t sum, const SplitPart& part) { return sum + part.rows; });
}

/// Which inputs have a row for each item of the batch; the others are the same for every part.
std::vector<bool> batched_inputs(const Graph& whole, std::span<const SplitPart> parts) {
  std::vector<bool> batched;
  for (std::size_t i = 0; i < whole.inputs.size(); ++i) {
    const GraphTensor& input = whole.tensor(whole.inputs[i]);
    bool all_rows = true;
    bool all_same = true;
    for (const SplitPart& part : parts) {
      const Shape& shape = part.graph.tensor(part.graph.inputs[i]).shape;
      Shape rows = input.shape;
      if (!rows.empty()) rows.front() = part.rows;
      all_rows =
          all_rows && !rows.empty() && shape == rows && input.shape.front() == batch_of(parts);
      all_same = all_same && shape == input.shape;
    }
    if (all_rows == all_same) {
      throw UnsupportedError("split: input '" + input.name + "' " + to_string(input.shape) +
                             " has the batch of " + std::to_string(batch_of(parts)) +
                             " in another place than its outermost extent, so it cannot be cut; "
                             "use one device");
    }
    batched.push_back(all_rows);
  }
  return batched;
}

/// Joins the plans of the parts.
class PlanMerger {
 public:
  PlanMerger(const Graph& whole, std::span<const SplitPart> parts, std::vector<bool> batched)
      : whole_(whole), parts_(parts), batched_(std::move(batched)) {
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
    std::ranges::move(part.left_out_by_self_tests,
                      std::back_inserter(plan_.left_out_by_self_tests));
    for (std::size_t i = 0; i < part.inputs.size(); ++i) {
      scatter(plan_.inputs[i].value, part.inputs[i].value.moved(shift.values), batched_[i]);
    }
    for (std::size_t i = 0; i < part.outputs.size(); ++i) {
      gather(part.outputs[i].value.moved(shift.values), plan_.outputs[i].value);
    }
    if (device == kFirstDevice) return;
    // The caller sees the first device alone: elsewhere, ports are what lies between steps.
    for (const ValueId v : plan_.values.ids_from(first_value)) {
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

  void scatter(ValueId whole, ValueId part, bool batched) {
    if (value_at(part).device == kFirstDevice) {
      value_at(part).memory_of = whole;
      return;
    }
    const std::int64_t offset = batched ? offset_bytes(whole) : 0;
    scatters_.push_back(make_step("scatter", {whole, part, offset, 0, part_bytes(part)}));
  }

  void gather(ValueId part, ValueId whole) {
    const ValueId root = memory_root(plan_.values, part);
    const bool on_first = value_at(part).device == kFirstDevice;
    if (on_first && root == whole) return;
    const Value::Kind kind = value_at(root).kind;
    const bool free = kind != Value::Kind::input && !is_fixed(value_at(root)) &&
                      root >= ValueId(plan_.inputs.size() + plan_.outputs.size());
    if (on_first && free) {
      value_at(root).memory_of = whole;
      return;
    }
    gathers_.push_back(
        make_step("gather", {part, whole, 0, offset_bytes(whole), part_bytes(part)}));
  }

  /// Where the rows of the part that is being added begin in a whole input or output.
  std::int64_t offset_bytes(ValueId whole) {
    const Arrangement& arrangement = value_at(whole).arrangement;
    return bytes_of(arrangement) / arrangement.tensor_shape.front() * first_row_;
  }

  std::int64_t part_bytes(ValueId part) { return bytes_of(value_at(part).arrangement); }

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
    step.cost.bytes = step.cost.logical_bytes = step.cost.footprint_bytes = 2 * transfer.bytes;
    // Through the host: read from the one, then written to the other.
    for (const ValueId value : {transfer.from, transfer.to}) {
      const DeviceInfo& device = devices_[value_at(value).device];
      const double memory_us = static_cast<double>(transfer.bytes) / (memory_peak(device) * 1e3);
      step.cost.estimated_us += step_cost_us(0.0, 1.0, memory_us, device);
    }
    return step;
  }

  const Graph& whole_;
  std::span<const SplitPart> parts_;
  std::vector<bool> batched_;
  Devices devices_;             ///< of the parts that are added
  std::int64_t first_row_ = 0;  ///< of the part that is being added
  std::vector<Step> scatters_, computing_, gathers_;
  Plan plan_;
};

}  // namespace

std::vector<std::int64_t> share_rows(std::int64_t batch, std::span<const double> weights) {
  const auto count = static_cast<std::int64_t>(weights.size());
  if (batch < count) {
    throw UsageError("split: a batch of " + std::to_string(batch) + " cannot be split over " +
                     std::to_string(count) +
                     " devices, which get at least one row each; give a larger " +
                     setting("batch") + " or fewer devices");
  }
  double largest = 0.0;
  for (const double weight : weights) {
    if (!(std::isfinite(weight) && weight > 0.0)) {
      throw UsageError("split: the weight " + std::to_string(weight) + " is not a number above 0");
    }
    largest = std::max(largest, weight);
  }
  double sum = 0.0;
  for (const double weight : weights) sum += weight / largest;
  std::vector<double> ideal;
  std::vector<std::int64_t> rows;
  for (const double weight : weights) {
    ideal.push_back(static_cast<double>(batch) * (weight / largest / sum));
    rows.push_back(std::max<std::int64_t>(1, static_cast<std::int64_t>(ideal.back())));
  }
  // What rounding left over goes to those who lack most; what the least of one row took comes from
  // those who have most too much.
  for (std::int64_t total = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
       total != batch;) {
    const bool give = total < batch;
    std::size_t chosen = rows.size();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!give && rows[i] == 1) continue;
      const auto lack = [&](std::size_t at) { return ideal[at] - static_cast<double>(rows[at]); };
      if (chosen == rows.size() || (give ? lack(i) > lack(chosen) : lack(i) < lack(chosen))) {
        chosen = i;
      }
    }
    rows[chosen] += give ? 1 : -1;
    total += give ? 1 : -1;
  }
  return rows;
}

Plan make_split_plan(const Graph& whole, std::span<const SplitPart> parts,
                     const KernelPolicy& policy) {
  if (parts.size() < 2) throw InternalError("split: there is nothing to split over one device");
  for (const GraphTensor& tensor : whole.tensors) {
    if (tensor.kind != GraphTensor::Kind::state) continue;
    throw UnsupportedError("split: the model keeps '" + tensor.name +
                           "' from run to run, which several devices cannot share; use one");
  }
  std::vector<bool> batched = batched_inputs(whole, parts);
  require_independent_rows(make_tasks(whole), batched, batch_of(parts));
  const KernelPolicy of_parts = policy.for_one_of_several_devices();
  std::vector<Plan> plans;
  for (const SplitPart& part : parts) {
    plans.push_back(make_plan(part.graph, part.device, of_parts));
  }
  return PlanMerger(whole, parts, std::move(batched)).run(std::move(plans));
}

}  // namespace morton::plan
