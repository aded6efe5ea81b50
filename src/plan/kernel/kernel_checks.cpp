// SPDX-License-Identifier: Apache-2.0
#include "plan/kernel/kernel_checks.hpp"

#include <algorithm>

#include "plan/cost/library_rules.hpp"
#include "source/work_program.hpp"

namespace morton::plan {
namespace {

using Why = NotConsidered::Why;

/// A kernel of a family of any rank walks the memory of dst, all of it, or the rows of the problem,
/// which may be a part of dst.
std::optional<Reason> check_part(const AskedKernel& asked) {
  if (!asked.entry.entry->operands.at("dst").is_any()) return std::nullopt;
  const bool is_part = !asked.bound->operands.at("dst").view.grouping;
  if (is_part && asked.entry.walks_memory) return NotConsidered{Why::writes_the_whole};
  if (!is_part && asked.entry.writes_parts) return NotConsidered{Why::writes_a_part};
  return std::nullopt;
}

std::optional<Reason> check_operands(const AskedKernel& asked) {
  const Problem& problem = asked.bound->problem;
  if (asked.entry.entry->sums.terms_in_f16 > 0 && asked.context.options.sums != DType::f16) {
    return OtherSums{};
  }
  for (const auto& [role, format] : asked.entry.entry->operands) {
    if (format.stored && *format.stored != asked.context.options.precision) {
      return OtherPrecision{role, *format.stored};
    }
    const auto type = problem.types.find(role);
    if (type == problem.types.end()) continue;
    const TaskTensor& tensor = asked.tensor(asked.bound->operands.at(role).tensor);
    const bool lies_so = format.is_unbound() && tensor.is_rounded;
    if (lies_so && std::ranges::count(format.types, tensor.dtype) == 0) {
      return WrongType{role, tensor.dtype};
    }
    if (std::find(format.types.begin(), format.types.end(), type->second) == format.types.end()) {
      return WrongType{role, type->second};
    }
  }
  return std::nullopt;
}

/// Doubles are an option of OpenCL 1.2.
std::optional<Reason> check_doubles(const AskedKernel& asked) {
  if (asked.context.device.features.fp64) return std::nullopt;
  const auto& steps = asked.bound->problem.epilogue.steps;
  bool used = std::any_of(steps.begin(), steps.end(), [](const ScalarStep& step) {
    return facts_of(step.op).typing == ScalarTyping::convert && step.target == DType::f64;
  });
  const auto is_double = [&](TensorId tensor) { return asked.tensor(tensor).dtype == DType::f64; };
  for (const auto& [role, binding] : asked.bound->operands) {
    used = used || is_double(binding.tensor);
  }
  for (const auto& side : asked.bound->sides) used = used || is_double(side.tensor);
  if (!used) return std::nullopt;
  return NotConsidered{Why::computes_with_f64};
}

std::optional<Reason> check_verdicts(const AskedKernel& asked, const Environment& values) {
  if (!asked.entry.has_verdicts) return std::nullopt;
  const PlanContext& context = asked.context;
  const Verdict* verdict =
      context.options.tuned->verdict_on(*asked.entry.entry, values, context.device);
  if (verdict == nullptr) return std::nullopt;
  return RefusedValues{values, verdict->why, verdict->finder};
}

/// Whether what the kernel is to compute can be written as data.
std::optional<Reason> check_work(const AskedKernel& asked) {
  if (!asked.entry.entry->takes_work()) return std::nullopt;
  if (asked.bound->operands.at("dst").view.bounded) return NotAsData{"its result has bounds"};
  std::vector<DType> sides;
  for (const Side& side : asked.bound->sides) sides.push_back(asked.tensor(side.tensor).dtype);
  if (auto why = why_no_program(asked.bound->problem, sides)) return NotAsData{std::move(*why)};
  return std::nullopt;
}

}  // namespace

std::optional<Reason> why_not_before_values(const AskedKernel& asked, const Environment& tunables) {
  if (auto reason = missing_library(*asked.entry.entry, asked.context.options)) return reason;
  if (const auto quirk = asked.entry.fatal_quirk; !quirk.empty()) return EndsProcess{quirk};
  if (auto reason = check_operands(asked)) return reason;
  if (auto reason = check_part(asked)) return reason;
  if (auto reason = check_work(asked)) return reason;
  if (auto reason = check_doubles(asked)) return reason;
  return check_verdicts(asked, tunables);
}

}  // namespace morton::plan
