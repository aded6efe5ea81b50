// SPDX-License-Identifier: Apache-2.0
#include "plan/ir/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/rooms.hpp"

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

std::string_view filling_text(PlannedImage::Source source) {
  switch (source) {
    case PlannedImage::Source::shared:
      return "on this memory";
    case PlannedImage::Source::copied:
      return "that each run copies it to";
    case PlannedImage::Source::kept:
      return "that the first run copies it to";
    case PlannedImage::Source::none:
      break;
  }
  return "";
}

std::string operand_text(const Plan& plan, const std::string& name, const PassedValue& passed) {
  const Value& value = plan.values[passed.id];
  const PlannedImage& image = passed.image;
  std::string as_image;
  if (image.source != PlannedImage::Source::none) {
    as_image = fmt::format(", as an image of {} x {} texels {}", image.width, image.height,
                           filling_text(image.source));
  }
  return fmt::format("      {:<8} {} at block {} byte {}, {} bytes: {}{}\n", name, value.name,
                     value.block.index(), value.offset_bytes, value.bytes, print(value.arrangement),
                     as_image);
}

std::string transfer_text(const Plan& plan, const Transfer& transfer) {
  const auto end_text = [&](const char* word, ValueId id, std::int64_t offset) {
    const Value& value = plan.values[id];
    return fmt::format("      {:<8} {} of device {} at block {} byte {}\n", word, value.name,
                       value.device.index(), value.block.index(), value.offset_bytes + offset);
  };
  return end_text("from", transfer.from, transfer.from_offset_bytes) +
         end_text("to", transfer.to, transfer.to_offset_bytes);
}

std::string launch_text(const Step& step) {
  if (const KernelLaunch* launch = step.launch()) {
    return fmt::format("global {} local {}", size_text(launch->global), size_text(launch->local));
  }
  if (const Transfer* transfer = step.transfer()) {
    if (transfer->stretches == 1) return fmt::format("{} bytes", transfer->bytes);
    return fmt::format("{} stretches of {} bytes", transfer->stretches, transfer->bytes);
  }
  return is_on_host(step) ? "library call on the host" : "library call";
}

/// Which of several devices; nothing where there is one.
std::string device_text(const Plan& plan, DeviceIndex device) {
  return plan.devices.size() == 1 ? "" : fmt::format("device {} ", device.index());
}

std::string devices_text(const Plan& plan) {
  if (plan.devices.size() == 1)
    return fmt::format("plan for {}\n", plan.devices.front().fingerprint);
  std::string text = fmt::format("plan for {} devices\n", plan.devices.size());
  for (const DeviceIndex device : plan.devices.ids()) {
    text += fmt::format("device {}: {}\n", device.index(), plan.devices[device].fingerprint);
  }
  return text;
}

std::string step_text(const Plan& plan, const Step& step, const std::string& number,
                      const PlanPrinting& how) {
  std::string text =
      fmt::format("{:>3} {}{:<28} {:<26} {}  {} FLOP, {} bytes, {:.1f} us\n", number,
                  device_text(plan, step.device), step.name, step.kernel, launch_text(step),
                  step.cost.flop, step.cost.bytes, step.cost.estimated_us);
  if (step.in_place) text.insert(text.size() - 1, ", in place");
  if (how.detail == PlanDetail::brief) return text;
  text += fmt::format("      {}\n      why: {}\n", step.problem, step.reason.print(how.printer));
  if (const LibraryCall* call = step.library_call()) {
    text += fmt::format("      routine {} of {}, {}\n", call->routine, call->library,
                        call->place == LibraryCall::Place::host
                            ? "on the host, which waits for the steps before it"
                            : "which builds its own kernels when a process first uses them; "
                              "Morton's cache does not keep those");
  }
  for (const auto& argument : step.arguments) {
    const PassedValue* passed = argument.value();
    if (passed != nullptr) text += operand_text(plan, argument.name, *passed);
  }
  if (const Transfer* transfer = step.transfer()) text += transfer_text(plan, *transfer);
  return text;
}

/// What lies in memory as halves, where any does.
std::string halves_text(const Plan& plan) {
  struct Bytes {
    std::int64_t halves = 0, all = 0;
  } constants, others;
  std::string type;
  for (const Value& value : plan.values) {
    const DType own = value.arrangement.dtype;
    const bool is_half = own == DType::f16 || own == DType::bf16;
    if (is_half) type = name_of(own);
    if (value.memory_of || (!is_half && own != DType::f32)) continue;
    Bytes& bytes = is_fixed(value) ? constants : others;
    bytes.all += bytes_of(value.arrangement);
    if (is_half) bytes.halves += bytes_of(value.arrangement);
  }
  if (type.empty()) return "";
  return fmt::format("in {}: {} of {} bytes of constants, {} of {} of other values\n", type,
                     constants.halves, constants.all, others.halves, others.all);
}

}  // namespace

std::string print(const Plan& plan, PlanDetail detail, SettingPrinter printer) {
  const PlanPrinting how{detail, printer};
  std::string text = devices_text(plan);
  text += fmt::format("{}, {} in {}, estimated {:.1f} us\n", counted(plan.steps.size(), "step"),
                      counted(plan.instances.size(), "kernel"),
                      counted(plan.programs.size(), "program"), estimated_us(plan));
  for (const BlockId b : plan.blocks.ids()) {
    const PlannedBlock& block = plan.blocks[b];
    text += fmt::format("block {}: {}{} {} bytes\n", b.index(), device_text(plan, block.device),
                        name_of(block.kind), block.bytes);
  }
  text += fmt::format("largest live set: {} bytes; of activations {}, of workspace {}\n",
                      plan.largest_live.all, plan.largest_live.activations,
                      plan.largest_live.workspace);
  if (const std::int64_t bytes = streamed_bytes(plan); bytes > 0) {
    text += fmt::format("streamed: {} bytes of weights come from a file in each run\n", bytes);
  }
  text += halves_text(plan);
  for (const Step& step : plan.load_steps) text += step_text(plan, step, "once", how);
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    text += step_text(plan, plan.steps[s], std::to_string(s), how);
  }
  if (detail == PlanDetail::why) {
    text += "considered, with the estimated time of each alone:\n";
    for (const DeviceIndex device : plan.devices.ids()) {
      text += fmt::format("  peaks: {}{}\n", device_text(plan, device), plan.devices[device].peaks);
    }
    for (const auto& line : plan.considered) text += "  " + line.print(printer) + "\n";
  }
  return text;
}

}  // namespace morton::plan
