// SPDX-License-Identifier: Apache-2.0
#include "plan/lower/schedule.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "plan/search/choose.hpp"
#include "plan/search/repack.hpp"
#include "plan/search/settle.hpp"
#include "plan/tasks/alias.hpp"

namespace morton::plan {
namespace {

class Scheduler {
 public:
  Scheduler(const CandidateLists& candidates, const std::vector<Selection>& selections,
            const PlanContext& context)
      : candidates_(candidates),
        selections_(selections),
        context_(context),
        stored_(context.tasks.tensors.size()) {}

  Schedule run() {
    for (const auto& [name, tensor] : context_.tasks.inputs) {
      const TaskTensor& facts = task_tensor(tensor);
      const int value =
          add_value(name, Value::Kind::input, row_major_arrangement(facts.dtype, facts.shape));
      stored_[static_cast<std::size_t>(tensor)].push_back(value);
      schedule_.inputs.emplace_back(name, value);
    }
    for (std::size_t t = 0; t < stored_.size(); ++t) add_state(static_cast<int>(t));
    for (std::size_t t = 0; t < selections_.size(); ++t) run_task(t);
    current_ = nullptr;
    for (const auto& [state, value] : context_.tasks.updates) update(state, value);
    for (const auto& [name, tensor] : context_.tasks.outputs) {
      schedule_.outputs.emplace_back(name, output_value(name, tensor));
    }
    return std::move(schedule_);
  }

 private:
  using Stored = std::vector<std::vector<int>>;

  const TaskTensor& task_tensor(int id) const {
    return context_.tasks.tensors[static_cast<std::size_t>(id)];
  }
  Value& value_at(int id) { return schedule_.values[static_cast<std::size_t>(id)]; }

  int add_value(const std::string& name, Value::Kind kind, const Arrangement& arrangement) {
    Value value;
    value.name = name;
    value.kind = kind;
    value.arrangement = arrangement;
    schedule_.values.push_back(std::move(value));
    return static_cast<int>(schedule_.values.size()) - 1;
  }

  /// The values of a tensor of this candidate: its own temporaries, or the task list's tensors.
  std::vector<int>& stored(int tensor) {
    return tensor >= kFirstTemporary
               ? temporaries_[static_cast<std::size_t>(tensor - kFirstTemporary)]
               : stored_[static_cast<std::size_t>(tensor)];
  }

  void run_task(std::size_t t) {
    const Candidate candidate = candidates_[t].told(selections_[t].candidate);
    temporaries_.assign(candidate.temporaries.size(), {});
    current_ = &candidate;
    for (const auto& choice : candidate.kernels) {
      ScheduledKernel kernel;
      kernel.choice = choice;
      kernel.task = static_cast<int>(t);
      kernel.once = choice.once;
      for (const auto& [role, binding] : choice.bound->operands) {
        if (role != "dst") kernel.values[role] = read(choice, role);
      }
      for (const auto& side : choice.bound->sides) kernel.sides.push_back(read_side(side));
      kernel.values["dst"] = write(choice, selections_[t].output);
      schedule_.estimated_us += choice.estimated_us;
      schedule_.kernels.push_back(std::move(kernel));
    }
  }

  void add_state(int tensor) {
    const TaskTensor& facts = task_tensor(tensor);
    if (facts.kind != TaskTensor::Kind::state) return;
    const int value =
        add_value(facts.name, Value::Kind::state, row_major_arrangement(facts.dtype, facts.shape));
    value_at(value).data = facts.data;
    stored(tensor).push_back(value);
    schedule_.states.emplace_back(facts.name, value);
  }

  /// Makes the state take the tensor's value: the step that computes it writes the state's memory
  /// where that is safe, else it is copied at the end.
  void update(int state, int tensor) {
    const TaskTensor& facts = task_tensor(tensor);
    const int home = stored(state).front();
    const Arrangement row_major = row_major_arrangement(facts.dtype, facts.shape);
    const int value = direct_value(tensor, row_major);
    const Value& source = value_at(memory_root(schedule_.values, value));
    if (source.kind == Value::Kind::state) {
      throw UnsupportedError("plan: state '" + value_at(home).name +
                             "' takes the value of the state '" + source.name +
                             "', which may have been renewed by then");
    }
    if (writes_in_place(home, value)) {
      renewed_.insert(value);
      value_at(value).memory_of = home;
      return;
    }
    ScheduledKernel kernel;
    const auto copy = std::make_shared<const BoundProblem>(
        pack_problem(tensor, state, View{}, row_major, Problem{}, Demand::Kind::direct));
    kernel.choice =
        required(choose_pack(copy, "update " + value_at(home).name, context_, {},
                             {value_at(value).arrangement, value_at(home).arrangement}));
    kernel.choice.estimated_us = repack_cost_us(row_major, row_major, context_);
    kernel.values["src"] = value;
    kernel.values["dst"] = home;
    schedule_.estimated_us += kernel.choice.estimated_us;
    schedule_.kernels.push_back(std::move(kernel));
  }

  /// True when an elementwise step computes `value`, reads the state at most at the element that it
  /// writes, and nothing reads the state afterwards.
  bool writes_in_place(int home, int value) const {
    if (schedule_.values[static_cast<std::size_t>(value)].kind != Value::Kind::activation ||
        schedule_.values[static_cast<std::size_t>(value)].memory_of >= 0) {
      return false;
    }
    bool written = false;
    for (const auto& kernel : schedule_.kernels) {
      if (written && reads(kernel, home)) return false;
      if (kernel.values.at("dst") != value) continue;
      written = true;
      if (kernel.choice.bound->problem.family != families::elementwise) return false;
      const View& view = kernel.choice.bound->operands.at("src0").view;
      const View& dst = kernel.choice.bound->operands.at("dst").view;
      if (names(kernel.values.at("src0"), home) && view.print() != dst.print()) return false;
      const Shape& shape =
          schedule_.values[static_cast<std::size_t>(value)].arrangement.tensor_shape;
      for (std::size_t i = 0; i < kernel.sides.size(); ++i) {
        const bool other_shape = kernel.choice.bound->sides[i].shape != shape;
        if (names(kernel.sides[i], home) && other_shape) return false;
      }
    }
    return written;
  }

  /// Whether `value` is the memory of `home`, under whatever name.
  bool names(int value, int home) const { return memory_root(schedule_.values, value) == home; }

  bool reads(const ScheduledKernel& kernel, int home) const {
    const bool operand = std::any_of(
        kernel.values.begin(), kernel.values.end(),
        [&](const auto& bound) { return bound.first != "dst" && names(bound.second, home); });
    return operand || std::any_of(kernel.sides.begin(), kernel.sides.end(),
                                  [&](int side) { return names(side, home); });
  }

  int write(const KernelChoice& choice, const Arrangement& open_output) {
    const int tensor = tensor_of(*choice.bound, "dst");
    const Demand& demand = choice.demands.at("dst");
    if (tensor >= kFirstTemporary) {
      const auto index = static_cast<std::size_t>(tensor - kFirstTemporary);
      const TaskTensor& facts = current_->temporaries[index];
      const bool derived = facts.kind == TaskTensor::Kind::derived;
      const int value =
          add_value(facts.name, derived ? Value::Kind::derived : Value::Kind::workspace,
                    arrangement_of_temporary(*current_, index));
      stored(tensor).push_back(value);
      return value;
    }
    Arrangement arrangement =
        demand.kind == Demand::Kind::direct ? demand.arrangement : open_output;
    // Kernels with generated accessors for any rank write zeros around the tensor; others write
    // nothing there.
    if (demand.kind == Demand::Kind::any) {
      arrangement.rim = choice.entry->operands.at("dst").rim;
    }
    // The slabs of a recipe write parts of one value.
    if (!stored(tensor).empty()) return stored(tensor).front();
    const int value = add_value(task_tensor(tensor).name, Value::Kind::activation, arrangement);
    stored(tensor).push_back(value);
    return value;
  }

  int read(const KernelChoice& choice, const std::string& role) {
    const Binding& binding = choice.bound->operands.at(role);
    const Demand& demand = choice.demands.at(role);
    if (demand.kind == Demand::Kind::any) return any_value(binding.tensor);
    if (demand.kind == Demand::Kind::packed) {
      return packed_value(binding, demand.arrangement, choice.bound->problem);
    }
    return direct_value(binding.tensor, demand.arrangement);
  }

  int read_side(const Side& side) {
    if (side.tensor >= kFirstTemporary) return any_value(side.tensor);
    const TaskTensor& tensor = task_tensor(side.tensor);
    if (tensor.shape == side.shape) return any_value(side.tensor);
    if (tensor.kind == TaskTensor::Kind::constant) return reshaped_constant(side);
    // Other extents: the elements are taken row-major.
    const int value = direct_value(side.tensor, row_major_arrangement(tensor.dtype, tensor.shape));
    return reshaped_value(value, side.shape);
  }

  /// A constant under another row-major shape; each only once.
  int reshaped_constant(const Side& side) {
    const auto [known, added] = reshaped_.try_emplace({side.tensor, side.shape}, -1);
    if (added) {
      const TaskTensor& facts = task_tensor(side.tensor);
      Arrangement arrangement = row_major_arrangement(facts.dtype, side.shape);
      arrangement.rim = Rim::zero;
      known->second = add_value(facts.name, Value::Kind::constant, arrangement);
      value_at(known->second).data = facts.data.reshaped(side.shape);
    }
    return known->second;
  }

  /// The same memory seen as another row-major shape.
  int reshaped_value(int value, const Shape& shape) {
    const DType dtype = value_at(value).arrangement.dtype;
    return shared_value(value, row_major_arrangement(dtype, shape));
  }

  /// The same memory under another arrangement of as many bytes.
  int shared_value(int value, const Arrangement& arrangement) {
    const Value original = value_at(value);
    const int result = add_value(original.name, original.kind, arrangement);
    if (original.kind == Value::Kind::constant) {
      value_at(result).data = original.data.reshaped(arrangement.tensor_shape);
    } else {
      value_at(result).memory_of = value;
    }
    return result;
  }

  int any_value(int tensor) {
    if (!stored(tensor).empty()) return stored(tensor).front();
    const TaskTensor& facts = task_tensor(tensor);
    return direct_value(tensor, row_major_arrangement(facts.dtype, facts.shape));
  }

  int direct_value(int tensor, const Arrangement& demanded) {
    for (const int value : stored(tensor)) {
      if (satisfies(value_at(value).arrangement, demanded)) return value;
    }
    if (tensor < kFirstTemporary) {
      const TaskTensor& facts = task_tensor(tensor);
      if (facts.kind == TaskTensor::Kind::constant) return constant_value(tensor, demanded);
      if (facts.alias_of >= 0) return alias_value(tensor, demanded);
    }
    if (stored(tensor).empty()) {
      throw InternalError("plan: a tensor is read before it is written");
    }
    const int from = stored(tensor).front();
    const BoundProblem pack =
        pack_problem(tensor, tensor, View{}, demanded, Problem{}, Demand::Kind::direct);
    const int copy = repack(from, pack, demanded);
    stored(tensor).push_back(copy);
    return copy;
  }

  /// A tensor that has the elements of another under a new shape: the other's memory, in an
  /// arrangement that both shapes can name, or row-major.
  int alias_value(int tensor, const Arrangement& demanded) {
    const TaskTensor& facts = task_tensor(tensor);
    const TaskTensor& source = task_tensor(facts.alias_of);
    if (const auto seen = seen_from_source(demanded, source.shape)) {
      const int value = direct_value(facts.alias_of, *seen);
      Arrangement arrangement = demanded;
      arrangement.rim = value_at(value).arrangement.rim;
      stored(tensor).push_back(shared_value(value, arrangement));
      return stored(tensor).back();
    }
    const Arrangement dense = row_major_arrangement(facts.dtype, facts.shape);
    const int whole =
        direct_value(facts.alias_of, row_major_arrangement(source.dtype, source.shape));
    const int view = reshaped_value(whole, facts.shape);
    stored(tensor).push_back(view);
    if (satisfies(dense, demanded)) return view;
    const int copy = repack(
        view, pack_problem(tensor, tensor, View{}, demanded, Problem{}, Demand::Kind::direct),
        demanded);
    stored(tensor).push_back(copy);
    return copy;
  }

  int constant_value(int tensor, const Arrangement& demanded) {
    const TaskTensor& facts = task_tensor(tensor);
    Arrangement arrangement = demanded;
    arrangement.rim = Rim::zero;
    const int value = add_value(facts.name, Value::Kind::constant, arrangement);
    value_at(value).data = facts.data;
    stored(tensor).push_back(value);
    return value;
  }

  int packed_value(const Binding& binding, const Arrangement& arrangement, const Problem& problem) {
    if (binding.tensor < kFirstTemporary &&
        task_tensor(binding.tensor).kind == TaskTensor::Kind::constant) {
      const TaskTensor& facts = task_tensor(binding.tensor);
      Arrangement zero_rim = arrangement;
      zero_rim.rim = Rim::zero;
      const int value = add_value(facts.name, Value::Kind::constant, zero_rim);
      value_at(value).data = facts.data;
      value_at(value).view = binding.view;
      value_at(value).view_names = environment_of(problem);
      return value;
    }
    const int from = any_value(binding.tensor);
    const BoundProblem pack = pack_problem(binding.tensor, binding.tensor, binding.view,
                                           arrangement, problem, Demand::Kind::packed);
    return repack(from, pack, arrangement);
  }

  int repack(int from, BoundProblem pack, const Arrangement& to) {
    const Value source = value_at(from);
    pack.problem.types["src"] = source.arrangement.dtype;
    Arrangement arrangement = to;
    arrangement.rim = Rim::zero;
    std::vector<TaskTensor> none;
    if (current_ != nullptr) none = current_->temporaries;
    ScheduledKernel kernel;
    kernel.choice = required(choose_pack(std::make_shared<const BoundProblem>(std::move(pack)),
                                         "pack " + source.name, context_, none,
                                         {source.arrangement, arrangement}));
    kernel.once = source.kind == Value::Kind::derived;
    const int copy =
        add_value(source.name + ":packed",
                  kernel.once ? Value::Kind::derived : Value::Kind::workspace, arrangement);
    kernel.choice.estimated_us =
        kernel.once ? 0.0 : repack_cost_us(source.arrangement, arrangement, context_);
    kernel.values["src"] = from;
    kernel.values["dst"] = copy;
    schedule_.estimated_us += kernel.choice.estimated_us;
    schedule_.kernels.push_back(std::move(kernel));
    return copy;
  }

  int output_value(const std::string& name, int tensor) {
    const TaskTensor& facts = task_tensor(tensor);
    current_ = nullptr;
    const int value = direct_value(tensor, row_major_arrangement(facts.dtype, facts.shape));
    const int root = memory_root(schedule_.values, value);
    const bool updated =
        std::any_of(context_.tasks.updates.begin(), context_.tasks.updates.end(),
                    [&](const auto& update) { return stored(update.first).front() == root; });
    if (updated && !renewed_.contains(value)) {
      throw UnsupportedError("plan: output '" + name + "' is the state '" + value_at(root).name +
                             "' as it was before the run, which renews it");
    }
    Value& chosen = value_at(value);
    if (chosen.kind == Value::Kind::activation || chosen.kind == Value::Kind::workspace) {
      chosen.kind = Value::Kind::output;
      chosen.name = name;
      int shared_root = chosen.memory_of;
      while (shared_root >= 0) {
        Value& shared = value_at(shared_root);
        const bool given = shared.kind == Value::Kind::input || shared.kind == Value::Kind::state;
        if (!given) shared.kind = Value::Kind::output;
        shared_root = shared.memory_of;
      }
    }
    return value;
  }

  const CandidateLists& candidates_;
  const std::vector<Selection>& selections_;
  const PlanContext& context_;
  Stored stored_;
  Stored temporaries_;
  const Candidate* current_ = nullptr;
  Schedule schedule_;
  std::map<std::pair<int, Shape>, int> reshaped_;  ///< constants, by tensor and shape
  std::set<int> renewed_;  ///< values that lie in the memory of the state that takes them
};

}  // namespace

Schedule make_schedule(const CandidateLists& candidates, const std::vector<Selection>& selections,
                       const PlanContext& context) {
  return Scheduler(candidates, selections, context).run();
}

}  // namespace morton::plan
