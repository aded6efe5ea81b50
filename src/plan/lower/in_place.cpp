// SPDX-License-Identifier: Apache-2.0
#include "plan/lower/in_place.hpp"

#include <algorithm>

#include "plan/ir/memory_range.hpp"

namespace morton::plan {
namespace {

class Overwriter {
 public:
  explicit Overwriter(Schedule& schedule)
      : schedule_(schedule),
        values_(schedule.values),
        last_use_(schedule.values.size(), 0),
        writers_(schedule.values.size(), 0) {
    for (std::size_t k = 0; k < schedule.kernels.size(); ++k) {
      const ScheduledKernel& kernel = schedule.kernels[k];
      for (const auto& [role, value] : kernel.values) use(value, k);
      for (const ValueId side : kernel.sides) use(side, k);
      ++writers_[kernel.values.at("dst")];
    }
    for (const auto* ports : {&schedule.inputs, &schedule.outputs, &schedule.states}) {
      for (const auto& [name, value] : *ports) use(value, schedule.kernels.size());
    }
  }

  void run() {
    for (std::size_t k = 0; k < schedule_.kernels.size(); ++k) {
      const ScheduledKernel& kernel = schedule_.kernels[k];
      if (kernel.once || kernel.choice.bound->problem.family != families::elementwise) continue;
      const ValueId dst = kernel.values.at("dst");
      const Value& target = values_[dst];
      const bool is_open = !target.memory_of && is_between_steps(target) && writers_[dst] == 1;
      if (!is_open) continue;
      for (const ValueId operand : operands_of(kernel)) {
        if (!dies_in(operand, k) || !is_read_in_place(kernel, operand)) continue;
        take(operand, dst);
        break;
      }
    }
  }

 private:
  void use(ValueId value, std::size_t kernel) {
    std::size_t& last = last_use_[memory_root(values_, value)];
    last = std::max(last, kernel);
  }

  static std::vector<ValueId> operands_of(const ScheduledKernel& kernel) {
    std::vector<ValueId> operands{kernel.values.at("src0")};
    operands.insert(operands.end(), kernel.sides.begin(), kernel.sides.end());
    return operands;
  }

  bool dies_in(ValueId operand, std::size_t kernel) const {
    const ValueId root = memory_root(values_, operand);
    return is_between_steps(values_[root]) && last_use_[root] == kernel;
  }

  /// Every operand in that memory is the whole of it, and its element at each place is read for
  /// the result at that place alone.
  bool is_read_in_place(const ScheduledKernel& kernel, ValueId operand) const {
    const ValueId root = memory_root(values_, operand);
    const ValueId dst = kernel.values.at("dst");
    const Arrangement& target = values_[dst].arrangement;
    const auto fits = [&](ValueId value) {
      const Value& read = values_[value];
      return same_memory(read.arrangement, target) &&
             bytes_of(read.arrangement) == bytes_of(values_[root].arrangement);
    };
    const BoundProblem& bound = *kernel.choice.bound;
    const ValueId source = kernel.values.at("src0");
    if (memory_root(values_, source) == root) {
      const View& view = bound.operands.at("src0").view;
      const View& written = bound.operands.at("dst").view;
      const bool same_place = !view.bounded && view.print() == written.print();
      if (!same_place || !fits(source)) return false;
    }
    for (std::size_t i = 0; i < kernel.sides.size(); ++i) {
      if (memory_root(values_, kernel.sides[i]) != root) continue;
      const bool broadcast = bound.sides[i].shape != target.tensor_shape;
      if (broadcast || !fits(kernel.sides[i])) return false;
    }
    return true;
  }

  void take(ValueId operand, ValueId dst) {
    const ValueId root = memory_root(values_, operand);
    values_[dst].memory_of = root;
    last_use_[root] = std::max(last_use_[root], last_use_[dst]);
  }

  Schedule& schedule_;
  Values& values_;
  Indexed<ValueId, std::size_t>
      last_use_;  ///< by root: the last kernel that names it; past all for ports
  Indexed<ValueId, int> writers_;
};

}  // namespace

void reuse_dying_operands(Schedule& schedule) { Overwriter(schedule).run(); }

}  // namespace morton::plan
