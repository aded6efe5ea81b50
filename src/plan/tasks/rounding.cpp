// SPDX-License-Identifier: Apache-2.0
#include "plan/tasks/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "plan/tasks/unrounded.hpp"

namespace morton::plan {
namespace {

bool reads_bits(const Chain& chain) {
  return std::ranges::any_of(chain.steps,
                             [](const ScalarStep& step) { return step.op == ScalarOp::bits; });
}

class Marker {
 public:
  Marker(TaskList& list, DType type) : list_(list), type_(type), why_(list.tensors.size()) {}

  Rounding run() {
    if (!list_.updates.empty()) {
      rounding_.kept["all tensors"] = "the model renews states";
      return std::move(rounding_);
    }
    for (const TensorId id : list_.tensors.ids()) look_at(id);
    for (const Task& task : list_.tasks) look_at(task);
    const TensorMarks beyond = beyond_range(list_, type_), exact = places(list_);
    for (const TensorId id : list_.tensors.ids()) {
      if (beyond[id] != 0) keep(id, std::string("may hold numbers beyond ") + beyond_text());
      if (exact[id] != 0) keep(id, "holds places or angles, or what they are made of");
    }
    for (const TensorId id : list_.tensors.ids()) mark(id);
    return std::move(rounding_);
  }

 private:
  void keep(TensorId tensor, const std::string& why) {
    std::string& known = why_[root_in(list_, tensor)];
    if (known.empty()) known = why;
  }

  [[nodiscard]] const char* beyond_text() const {
    return type_ == DType::f16 ? "65504" : "3.39e38";
  }

  void look_at(TensorId id) {
    const TaskTensor& tensor = list_.tensors[id];
    if (tensor.dtype != DType::f32) return;
    if (tensor.is_output) keep(id, "an output of the model");
    if (tensor.kind == TaskTensor::Kind::input) keep(id, "an input of the model");
    if (tensor.kind == TaskTensor::Kind::state) keep(id, "a state");
    if (element_count(tensor.shape) == 1) keep(id, "a single number");
    if (tensor.kind == TaskTensor::Kind::constant) keep_unfit(id, tensor.data);
  }

  /// Numbers that a half has not, or has with few bits.
  void keep_unfit(TensorId id, const Tensor& data) {
    const float smallest = type_ == DType::f16 ? 0x1p-10F : 0.0F;
    float largest = 0.0F;
    for (const float value : data.as<float>()) {
      if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    }
    if (largest > largest_of(type_)) {
      keep(id, std::string("some of its numbers are beyond ") + beyond_text());
    }
    if (largest > 0.0F && largest < smallest) keep(id, "all of its numbers are below 2^-10");
  }

  /// Of whole numbers only the types of an index, a condition or a place go with halves.
  void look_at(const Task& task) {
    const BoundProblem& bound = task.bound;
    const Family family = bound.problem.family;
    const auto is_whole = [&](TensorId id) {
      const DType type = list_.tensors[id].dtype;
      return type != DType::boolean && type != DType::f32;
    };
    const bool moves = family == families::elementwise || family == families::pack;
    bool mixes =
        std::ranges::any_of(bound.sides, [&](const Side& side) { return is_whole(side.tensor); });
    for (const auto& [role, binding] : bound.operands) {
      const bool passes = moves || (role == "dst" && !bound.problem.epilogue.is_identity());
      mixes = mixes || (passes && is_whole(binding.tensor));
    }
    const bool by_bits = reads_bits(bound.problem.epilogue);
    const auto check = [&](TensorId id, const std::string& role) {
      if (mixes) keep(id, "used beside other types of numbers");
      if (by_bits) keep(id, "its bits are read");
      if (is_exact(family, role)) keep(id, "holds places, thresholds or scales");
    };
    for (const auto& [role, binding] : bound.operands) check(binding.tensor, role);
    for (const Side& side : bound.sides) check(side.tensor, "");
  }

  void mark(TensorId id) {
    TaskTensor& tensor = list_.tensors[id];
    if (tensor.dtype != DType::f32) return;
    const std::string& why = why_[root_in(list_, id)];
    if (!why.empty()) {
      rounding_.kept.emplace(tensor.name, why);
      return;
    }
    tensor.dtype = type_;
    tensor.is_rounded = true;
    ++rounding_.tensors;
    rounding_.elements += element_count(tensor.shape);
  }

  TaskList& list_;
  DType type_;
  Indexed<TensorId, std::string> why_;  ///< a tensor stays f32, by the root of its aliases
  Rounding rounding_;
};

}  // namespace

std::vector<Message> lines_of(const Rounding& rounding) {
  std::map<std::string, std::string> names;
  for (const auto& [name, why] : rounding.kept) {
    std::string& list = names[why];
    list += (list.empty() ? "" : ", ") + name;
  }
  std::vector<Message> lines;
  for (const auto& [why, list] : names) lines.emplace_back("f32 in memory, " + why + ": " + list);
  return lines;
}

Rounding mark_rounded(TaskList& list, DType type) {
  if (type != DType::f16 && type != DType::bf16) return {};
  return Marker(list, type).run();
}

}  // namespace morton::plan
