// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/rooms.hpp"
#include "plan/ir/plan.hpp"

namespace morton::plan {
namespace {

struct PlanPrinting {
  PlanDetail detail;
  SettingPrinter printer;
};

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

std::string operand_text(const Plan& plan, const StepArgument& argument) {
  const Value& value = plan.values[static_cast<std::size_t>(argument.number)];
  const PlannedImage& image = argument.image;
  std::string as_image;
  if (image.source != PlannedImage::Source::none) {
    const bool shared = image.source == PlannedImage::Source::shared;
    as_image = fmt::format(", as an image of {} x {} texels {}", image.width, image.height,
                           shared ? "on this memory" : "that each run copies it to");
  }
  return fmt::format("      {:<8} {} at block {} byte {}, {} bytes: {}{}\n", argument.name,
                     value.name, value.block, value.offset_bytes, value.bytes,
                     print(value.arrangement), as_image);
}

std::string transfer_text(const Plan& plan, const Transfer& transfer) {
  const auto end_text = [&](const char* word, int index, std::int64_t offset) {
    const Value& value = plan.values[static_cast<std::size_t>(index)];
    return fmt::format("      {:<8} {} of slot {} at block {} byte {}\n", word, value.name,
                       value.slot, value.block, value.offset_bytes + offset);
  };
  return end_text("from", transfer.from, transfer.from_offset_bytes) +
         end_text("to", transfer.to, transfer.to_offset_bytes);
}

std::string launch_text(const Step& step) {
  switch (step.kind) {
    case Step::Kind::kernel:
      return fmt::format("global {} local {}", size_text(step.global), size_text(step.local));
    case Step::Kind::library:
      return step.place == Step::Place::host ? "library call on the host" : "library call";
    case Step::Kind::transfer:
      return fmt::format("{} bytes", step.transfer.bytes);
  }
  return "";
}

/// Which of several devices; nothing where there is one.
std::string slot_text(const Plan& plan, int slot) {
  return plan.devices.size() == 1 ? "" : fmt::format("slot {} ", slot);
}

std::string devices_text(const Plan& plan) {
  if (plan.devices.size() == 1) return fmt::format("plan for {}\n", plan.devices[0]);
  std::string text = fmt::format("plan for {} devices\n", plan.devices.size());
  for (std::size_t slot = 0; slot < plan.devices.size(); ++slot) {
    text += fmt::format("slot {}: {}\n", slot, plan.devices[slot]);
  }
  return text;
}

std::string step_text(const Plan& plan, const Step& step, const std::string& number,
                      const PlanPrinting& how) {
  std::string text = fmt::format("{:>3} {}{:<28} {:<26} {}  {} FLOP, {} bytes, {:.1f} us\n", number,
                                 slot_text(plan, step.slot), step.name, step.kernel,
                                 launch_text(step), step.flop, step.bytes, step.estimated_us);
  if (step.in_place) text.insert(text.size() - 1, ", in place");
  if (how.detail == PlanDetail::brief) return text;
  text += fmt::format("      {}\n      why: {}\n", step.problem, step.reason.print(how.printer));
  if (step.kind == Step::Kind::library) {
    text += fmt::format("      routine {} of {}, {}\n", step.routine, step.library,
                        step.place == Step::Place::host
                            ? "on the host, which waits for the steps before it"
                            : "which builds its own kernels when a process first uses them; "
                              "Morton's cache does not keep those");
  }
  for (const auto& argument : step.arguments) {
    if (argument.kind == StepArgument::Kind::value) text += operand_text(plan, argument);
  }
  if (step.kind == Step::Kind::transfer) text += transfer_text(plan, step.transfer);
  return text;
}

}  // namespace

double estimated_us(const Plan& plan) {
  double transfers_us = 0.0;
  std::vector<double> slots_us(plan.devices.size(), 0.0);
  for (const auto& step : plan.steps) {
    double& sum = step.kind == Step::Kind::transfer ? transfers_us
                                                    : slots_us[static_cast<std::size_t>(step.slot)];
    sum += step.estimated_us;
  }
  return transfers_us + *std::max_element(slots_us.begin(), slots_us.end());
}

std::string print(const Plan& plan, PlanDetail detail, SettingPrinter printer) {
  const PlanPrinting how{detail, printer};
  std::string text = devices_text(plan);
  text += fmt::format("{}, {} in {}, estimated {:.1f} us\n", counted(plan.steps.size(), "step"),
                      counted(plan.instances.size(), "kernel"),
                      counted(plan.programs.size(), "program"), estimated_us(plan));
  for (std::size_t b = 0; b < plan.blocks.size(); ++b) {
    text += fmt::format("block {}: {}{} {} bytes\n", b, slot_text(plan, plan.blocks[b].slot),
                        name_of(plan.blocks[b].kind), plan.blocks[b].bytes);
  }
  text += fmt::format("largest live set: {} bytes; aligned, activations {}, workspace {}\n",
                      plan.largest_live_bytes, plan.largest_live_activation_bytes,
                      plan.largest_live_workspace_bytes);
  for (const Step& step : plan.load_steps) text += step_text(plan, step, "once", how);
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    text += step_text(plan, plan.steps[s], std::to_string(s), how);
  }
  if (detail == PlanDetail::why) {
    text += "considered, with the estimated time of each alone:\n";
    for (std::size_t slot = 0; slot < plan.roofs.size(); ++slot) {
      text +=
          fmt::format("  roofs: {}{}\n", slot_text(plan, static_cast<int>(slot)), plan.roofs[slot]);
    }
    for (const auto& line : plan.considered) text += "  " + line.print(printer) + "\n";
  }
  return text;
}

}  // namespace morton::plan
