// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "plan/plan.hpp"

namespace morton {
namespace {

std::string size_text(const std::array<std::int64_t, 3>& size) {
  std::string text = std::to_string(size[0]);
  for (std::size_t i = 1; i < 3; ++i) {
    if (size[i] != 1 || (i == 1 && size[2] != 1)) text += "x" + std::to_string(size[i]);
  }
  return text;
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string_view kind_name(PlannedBlock::Kind kind) {
  switch (kind) {
    case PlannedBlock::Kind::weights:
      return "weights";
    case PlannedBlock::Kind::state:
      return "state";
    case PlannedBlock::Kind::activations:
      return "activations";
    case PlannedBlock::Kind::workspace:
      return "workspace";
  }
  return "";
}

std::string operand_text(const Plan& plan, const StepArgument& argument) {
  const Value& value = plan.values[static_cast<std::size_t>(argument.number)];
  return fmt::format("      {:<8} {} at block {} byte {}, {} bytes: {}\n", argument.name,
                     value.name, value.block, value.offset_bytes, value.bytes,
                     print(value.arrangement));
}

std::string step_text(const Plan& plan, const Step& step, const std::string& number,
                      PlanDetail detail) {
  std::string text =
      fmt::format("{:>3} {:<28} {:<26} global {} local {}  {} FLOP, {} bytes, {:.1f} us\n", number,
                  step.name, step.kernel, size_text(step.global), size_text(step.local), step.flop,
                  step.bytes, step.estimated_us);
  if (step.in_place) text.insert(text.size() - 1, ", in place");
  if (detail == PlanDetail::brief) return text;
  text += fmt::format("      {}\n      why: {}\n", step.problem, step.reason);
  for (const auto& argument : step.arguments) {
    if (argument.kind == StepArgument::Kind::value) text += operand_text(plan, argument);
  }
  return text;
}

}  // namespace

std::string print(const Plan& plan, PlanDetail detail) {
  double total_us = 0.0;
  for (const auto& step : plan.steps) total_us += step.estimated_us;
  std::string text =
      fmt::format("plan for {}\n{}, {} in {}, estimated {:.1f} us\n", plan.device,
                  counted(plan.steps.size(), "step"), counted(plan.instances.size(), "kernel"),
                  counted(plan.programs.size(), "program"), total_us);
  for (std::size_t b = 0; b < plan.blocks.size(); ++b) {
    text += fmt::format("block {}: {} {} bytes\n", b, kind_name(plan.blocks[b].kind),
                        plan.blocks[b].bytes);
  }
  text += fmt::format("largest live set: {} bytes\n", plan.largest_live_bytes);
  for (const Step& step : plan.load_steps) text += step_text(plan, step, "once", detail);
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    text += step_text(plan, plan.steps[s], std::to_string(s), detail);
  }
  if (detail == PlanDetail::why) {
    text += "considered, with the estimated time of each alone:\n";
    for (const auto& line : plan.considered) text += "  " + line + "\n";
  }
  return text;
}

}  // namespace morton
