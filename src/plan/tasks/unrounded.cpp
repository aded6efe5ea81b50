// SPDX-License-Identifier: Apache-2.0
#include "plan/tasks/unrounded.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

namespace morton::plan {
namespace {

/// Operands whose numbers are places, thresholds or counts.
struct ExactOperand {
  Family family;
  std::string_view role;  ///< empty: all of them
};

constexpr std::array<ExactOperand, 7> kExact{{{families::grid_sample, "grid"},
                                              {families::roi_align, "rois"},
                                              {families::roi_max_pool, "rois"},
                                              {families::coded_gemm, "scales"},
                                              {families::suppression, ""},
                                              {families::trees, ""},
                                              {families::determinant, ""}}};

/// Those whose results are operands' numbers, sums of them, or numbers between them.
constexpr std::array<Family, 11> kPassing{
    families::elementwise, families::pack,   families::gather,        families::scatter,
    families::sum,         families::reduce, families::log_sum_exp,   families::max_pool2d,
    families::resize2d,    families::top_k,  families::cumulative_sum};

bool passes(const Problem& problem) { return std::ranges::count(kPassing, problem.family) > 0; }

/// An outer product, or an affine map of places.
bool is_short_product(const Problem& problem) {
  constexpr std::int64_t kFew = 4;
  const bool is_product =
      problem.family == families::gemm || problem.family == families::batched_gemm;
  return is_product && problem.extents.at("K") <= kFew;
}

/// What may be said of a number's size.
enum class Size : std::uint8_t {
  usual,
  limit,   ///< one constant, beyond the range
  beyond,  ///< may be beyond the range
};

Size size_of_step(ScalarOp op, const std::vector<Size>& of) {
  const auto any = [&](std::size_t from, std::size_t end) {
    const bool large = std::any_of(of.begin() + static_cast<std::ptrdiff_t>(from),
                                   of.begin() + static_cast<std::ptrdiff_t>(end),
                                   [](Size size) { return size != Size::usual; });
    return large ? Size::beyond : Size::usual;
  };
  switch (op) {
    case ScalarOp::add:
    case ScalarOp::sub:
    case ScalarOp::mul:
      return any(0, 2);
    case ScalarOp::select:
      return any(1, 3);
    case ScalarOp::min:
    case ScalarOp::max:  // a limit alone changes nothing
      if (std::ranges::count(of, Size::beyond) > 0) return Size::beyond;
      return of[0] == of[1] ? of[0] : Size::usual;
    case ScalarOp::div:
    case ScalarOp::pow:
    case ScalarOp::rem:
      return any(0, 1);
    case ScalarOp::neg:
    case ScalarOp::abs:
    case ScalarOp::floor:
    case ScalarOp::ceil:
    case ScalarOp::trunc:
    case ScalarOp::round:
    case ScalarOp::cast:
      return of[0];
    default:
      return Size::usual;
  }
}

/// Follows what is beyond the range from the constants on, task by task.
class RangeMarker {
 public:
  RangeMarker(const TaskList& list, float largest)
      : list_(list), largest_(largest), marks_(list.tensors.size()) {}

  TensorMarks run() {
    for (const Task& task : list_.tasks) {
      if (size_of_result(task.bound) == Size::usual) continue;
      marks_[root_in(list_, tensor_of(task.bound, "dst"))] = 1;
    }
    return std::move(marks_);
  }

 private:
  [[nodiscard]] bool is_beyond(double value) const {
    return std::isfinite(value) && std::fabs(value) > largest_;
  }

  [[nodiscard]] Size size_of_tensor(TensorId id) const {
    const TaskTensor& tensor = list_.tensors[root_in(list_, id)];
    if (marks_[root_in(list_, id)] != 0) return Size::beyond;
    if (tensor.kind != TaskTensor::Kind::constant || tensor.dtype != DType::f32) return Size::usual;
    const auto numbers = tensor.data.as<float>();
    if (!std::ranges::any_of(numbers, [&](float one) { return is_beyond(one); })) {
      return Size::usual;
    }
    return numbers.size() == 1 ? Size::limit : Size::beyond;
  }

  /// Of what the family's definition gives, before the epilogue.
  [[nodiscard]] Size size_of_value(const BoundProblem& bound) const {
    if (!passes(bound.problem)) return Size::usual;
    Size size = Size::usual;
    for (const auto& [role, binding] : bound.operands) {
      if (role == "dst") continue;
      if (is_beyond(binding.view.outside)) size = Size::beyond;
      size = std::max(size, size_of_tensor(binding.tensor));
    }
    return size;
  }

  [[nodiscard]] Size size_of_result(const BoundProblem& bound) const {
    std::vector<Size> inputs{size_of_value(bound)}, steps;
    for (const Side& side : bound.sides) inputs.push_back(size_of_tensor(side.tensor));
    const auto size_of = [&](const ScalarRef& ref) {
      if (ref.kind == ScalarRef::Kind::input) return inputs.at(ref.place());
      if (ref.kind == ScalarRef::Kind::step) return steps.at(ref.place());
      return is_beyond(ref.value) ? Size::limit : Size::usual;
    };
    const Chain& chain = bound.problem.epilogue;
    for (const ScalarStep& step : chain.steps) {
      std::vector<Size> arguments;
      for (const ScalarRef& ref : step.arguments) arguments.push_back(size_of(ref));
      steps.push_back(size_of_step(step.op, arguments));
    }
    return size_of(chain.result);
  }

  const TaskList& list_;
  float largest_;
  TensorMarks marks_;
};

/// Follows places back to what they are made of, last task first.
class PlaceMarker {
 public:
  explicit PlaceMarker(const TaskList& list) : list_(list), marks_(list.tensors.size()) {}

  TensorMarks run() {
    const auto ids = list_.tasks.ids();
    std::vector<TaskId> order(ids.begin(), ids.end());
    std::ranges::reverse(order);
    for (const TaskId id : order) look_at(list_.tasks[id].bound);
    // What a product gives is known no better than its operands are.
    for (const Task& task : list_.tasks) {
      const Problem& problem = task.bound.problem;
      if (!passes(problem) && !is_short_product(problem)) mark_of(task.bound, "dst") = 0;
    }
    return std::move(marks_);
  }

 private:
  std::uint8_t& mark(TensorId id) { return marks_[root_in(list_, id)]; }
  std::uint8_t& mark_of(const BoundProblem& bound, const std::string& role) {
    return mark(tensor_of(bound, role));
  }

  void look_at(const BoundProblem& bound) {
    const Problem& problem = bound.problem;
    for (const auto& [role, binding] : bound.operands) {
      if (is_exact(problem.family, role)) mark(binding.tensor) = 1;
    }
    const std::vector<bool> inputs = places_among(bound);
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      if (inputs[i]) mark(bound.sides[i - 1].tensor) = 1;
    }
    if (!inputs[0] || !(passes(problem) || is_short_product(problem))) return;
    for (const auto& [role, binding] : bound.operands) {
      if (role != "dst") mark(binding.tensor) = 1;
    }
  }

  /// Which inputs of the epilogue places are made of.
  std::vector<bool> places_among(const BoundProblem& bound) {
    const Chain& chain = bound.problem.epilogue;
    std::vector<bool> inputs(bound.sides.size() + 1), steps(chain.steps.size());
    const auto want = [&](const ScalarRef& ref) {
      if (ref.kind == ScalarRef::Kind::input) inputs.at(ref.place()) = true;
      if (ref.kind == ScalarRef::Kind::step) steps.at(ref.place()) = true;
    };
    if (mark_of(bound, "dst") != 0) want(chain.result);
    for (std::size_t s = chain.steps.size(); s-- > 0;) {
      const ScalarOp op = chain.steps[s].op;
      const bool turns = op == ScalarOp::sin || op == ScalarOp::cos || op == ScalarOp::tan;
      if (!turns && !steps[s]) continue;
      for (const ScalarRef& ref : chain.steps[s].arguments) want(ref);
    }
    return inputs;
  }

  const TaskList& list_;
  TensorMarks marks_;
};

}  // namespace

TensorId root_in(const TaskList& list, TensorId tensor) {
  while (list.tensors[tensor].alias_of) tensor = list.tensors[tensor].alias_of;
  return tensor;
}

float largest_of(DType type) { return type == DType::f16 ? 65504.0F : 0x1.fep127F; }

TensorMarks beyond_range(const TaskList& list, DType type) {
  return RangeMarker(list, largest_of(type)).run();
}

TensorMarks places(const TaskList& list) { return PlaceMarker(list).run(); }

bool is_exact(Family family, const std::string& role) {
  return std::ranges::any_of(kExact, [&](const ExactOperand& one) {
    return one.family == family && (one.role.empty() || one.role == role);
  });
}

}  // namespace morton::plan
