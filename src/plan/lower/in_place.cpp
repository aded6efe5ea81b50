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
        last_use_(schedule.values.size(), -1),
        writers_(schedule.values.size(), 0) {
    for (std::size_t k = 0; k < schedule.kernels.size(); ++k) {
      const ScheduledKernel& kernel = schedule.kernels[k];
      for (const auto& [role, value] : kernel.values) use(value, k);
      for (const int side : kernel.sides) use(side, k);
      ++writers_[static_cast<std::size_t>(kernel.values.at("dst"))];
    }
    for (const auto* ports : {&schedule.inputs, &schedule.outputs, &schedule.states}) {
      for (const auto& [name, value] : *ports) use(value, schedule.kernels.size());
    }
  }

  void run() {
    for (std::size_t k = 0; k < schedule_.kernels.size(); ++k) {
      const ScheduledKernel& kernel = schedule_.kernels[k];
      if (kernel.once || kernel.choice.bound->problem.family != families::elementwise) continue;
      const int dst = kernel.values.at("dst");
      const Value& target = values_[static_cast<std::size_t>(dst)];
      const bool is_open = target.memory_of < 0 && is_between_steps(target) &&
                           writers_[static_cast<std::size_t>(dst)] == 1;
      if (!is_open) continue;
      for (const int operand : operands_of(kernel)) {
        if (!dies_in(operand, k) || !is_read_in_place(kernel, operand)) continue;
        take(operand, dst);
        break;
      }
    }
  }

 private:
  void use(int value, std::size_t kernel) {
    int& last = last_use_[static_cast<std::size_t>(memory_root(values_, value))];
    last = std::max(last, static_cast<int>(kernel));
  }

  static std::vector<int> operands_of(const ScheduledKernel& kernel) {
    std::vector<int> operands{kernel.values.at("src0")};
    operands.insert(operands.end(), kernel.sides.begin(), kernel.sides.end());
    return operands;
  }

  bool dies_in(int operand, std::size_t kernel) const {
    const auto root = static_cast<std::size_t>(memory_root(values_, operand));
    return is_between_steps(values_[root]) && last_use_[root] == static_cast<int>(kernel);
  }

  /// Every operand in that memory is the whole of it, and its element at each place is read for
  /// the result at that place alone.
  bool is_read_in_place(const ScheduledKernel& kernel, int operand) const {
    const int root = memory_root(values_, operand);
    const int dst = kernel.values.at("dst");
    const Arrangement& target = values_[static_cast<std::size_t>(dst)].arrangement;
    const auto fits = [&](int value) {
      const Value& read = values_[static_cast<std::size_t>(value)];
      return same_memory(read.arrangement, target) &&
             bytes_of(read.arrangement) ==
                 bytes_of(values_[static_cast<std::size_t>(root)].arrangement);
    };
    const BoundProblem& bound = *kernel.choice.bound;
    const int source = kernel.values.at("src0");
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

  void take(int operand, int dst) {
    const int root = memory_root(values_, operand);
    values_[static_cast<std::size_t>(dst)].memory_of = root;
    int& last = last_use_[static_cast<std::size_t>(root)];
    last = std::max(last, last_use_[static_cast<std::size_t>(dst)]);
  }

  Schedule& schedule_;
  std::vector<Value>& values_;
  std::vector<int> last_use_;  ///< by root: the last kernel that names it; past all for ports
  std::vector<int> writers_;   ///< by value
};

}  // namespace

void write_over_dying(Schedule& schedule) { Overwriter(schedule).run(); }

}  // namespace morton::plan
