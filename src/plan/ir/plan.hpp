// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/device/device_info.hpp"
#include "base/files/json_reader.hpp"
#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"
#include "graph/graph.hpp"
#include "layout/arrangement.hpp"
#include "morton/message.hpp"
#include "morton/plan_choices.hpp"
#include "plan/ir/decision.hpp"
#include "plan/measured/tuned.hpp"
#include "problems/problem.hpp"
#include "source/instance.hpp"

namespace morton::plan {

/// A piece of device memory that steps read and write.
struct Value {
  enum class Kind : std::uint8_t {
    input,       ///< written by the caller before a run
    output,      ///< read by the caller after a run
    constant,    ///< `data` packed once, when the plan is loaded
    state,       ///< kept between runs of a session, starts as `data`
    derived,     ///< computed from constants by the load steps, once
    activation,  ///< between two steps
    workspace,   ///< a temporary of a recipe, or a repacked copy
  };
  std::string name;
  Kind kind = Kind::activation;
  Arrangement arrangement;
  /// Of constants and states: the dense tensor. Of constants: the view through which it is packed
  /// (none: as it is).
  Tensor data;
  std::optional<View> view;
  Environment view_names;
  int memory_of = -1;  ///< the value whose memory this names under another shape; -1: its own
  /// Of a value with `memory_of`: where in that value's memory it begins (a part of a joined
  /// tensor).
  std::int64_t offset_in_owner_bytes = 0;
  int slot = 0;  ///< of the device whose memory it is in
  int block = -1;
  std::int64_t offset_bytes = 0;
  std::int64_t bytes = 0;
};

/// The value whose memory `index` names, through any number of names; of a part, the whole.
[[nodiscard]] int memory_root(const std::vector<Value>& values, int index);

/// True for values that keep, for all runs, what loading the plan gave them.
[[nodiscard]] inline bool is_fixed(const Value& value) {
  return value.kind == Value::Kind::constant || value.kind == Value::Kind::derived;
}

/// How a kernel gets a value as an image of RGBA texels.
struct PlannedImage {
  enum class Source : std::uint8_t {
    none,    ///< as a buffer
    shared,  ///< the image is made on the value's memory
    copied,  ///< it has memory of its own, which each run fills from the value
  } source = Source::none;
  std::int64_t width = 0, height = 0;  ///< in texels
  DType texel = DType::f32;
};

/// What a step passes to its kernel.
struct StepArgument {
  enum class Kind : std::uint8_t { value, integer } kind = Kind::integer;
  std::string name;
  std::int64_t number = 0;  ///< index of the value, or the integer
  PlannedImage image{};
};

/// A stretch of bytes that goes from one value to another, which may be another device's.
struct Transfer {
  int from = -1, to = -1;  ///< values
  std::int64_t from_offset_bytes = 0, to_offset_bytes = 0;
  std::int64_t bytes = 0;
};

/// One launch of a kernel, one call of a library, or one transfer.
struct Step {
  enum class Kind : std::uint8_t { kernel, library, transfer } kind = Kind::kernel;
  /// Who computes. A step on the host waits for the steps before it and maps its operands.
  enum class Place : std::uint8_t { device, host } place = Place::device;
  std::string name;    ///< the nodes that it computes, or what it repacks or transfers
  std::string kernel;  ///< catalogue entry; "transfer" for a transfer
  int slot = 0;       ///< of the device that runs it; of a transfer, of the one that gets the bytes
  int instance = -1;  ///< of a kernel
  std::string library, routine;  ///< of a library call
  Transfer transfer;             ///< of a transfer
  std::vector<StepArgument> arguments;
  enum class Role : std::uint8_t {
    compute,  ///< a node, or a step of a recipe for one
    repack,   ///< moves a tensor into the format that its reader demands
  } role = Role::compute;
  std::array<std::int64_t, 3> global{1, 1, 1};
  std::array<std::int64_t, 3> local{1, 1, 1};
  std::vector<int> reads, writes;  ///< values
  /// It writes where it reads: each element is computed from the one that it replaces.
  bool in_place = false;
  std::int64_t flop = 0;   ///< logical, not padded
  std::int64_t bytes = 0;  ///< memory of each operand, once
  /// The same without padding and without what is not touched (plan/lower/traffic.hpp), and of how
  /// much memory that is where operands share some.
  std::int64_t logical_bytes = 0, footprint_bytes = 0;
  double estimated_us = 0.0;
  Environment tunables;   ///< the values that it is built with
  Message reason;         ///< why this kernel, and why with these values
  std::string problem;    ///< what it solves, for printing
  TunedProblem tuned_as;  ///< what tuning data knows that by
};

/// A stretch of device memory.
struct PlannedBlock {
  enum class Kind : std::uint8_t {
    weights,
    state,
    activations,
    workspace
  } kind = Kind::activations;
  std::int64_t bytes = 0;
  int slot = 0;  ///< of the device that it belongs to
};

/// How a graph runs on its devices: pure data. Steps of one slot run in order, at each run, and a
/// transfer waits for the steps before it on the slot that it reads from.
struct Plan {
  std::vector<std::string> devices;  ///< fingerprint of the device of each slot
  std::vector<std::string> roofs;    ///< likewise, what estimates rest on and where it is from
  std::vector<Value> values;
  std::vector<Step> load_steps;  ///< run once, when the plan is loaded
  std::vector<Step> steps;
  std::vector<InstanceSource> instances;
  std::vector<std::vector<int>> programs;  ///< instances that are built together
  std::vector<PlannedBlock> blocks;
  std::vector<std::pair<std::string, int>> inputs, outputs, states;  ///< name and value
  /// For each task, what was considered: lines for `--why`.
  std::vector<Message> considered;
  /// "gemm.tile is left out: ..." for what a self-test found wrong; the same may come again.
  std::vector<std::string> left_out_by_self_tests;
  std::int64_t largest_live_bytes = 0;  ///< of activations and workspace, over the steps
  /// Of each alone: what their blocks cannot be smaller than together, alignment included.
  std::int64_t largest_live_activation_bytes = 0, largest_live_workspace_bytes = 0;
  std::map<std::string, TaskDecision> decisions;  ///< by task
};

/// Checks what the run relies on: values within blocks, no two live values that overlap, every
/// value written before it is read, work-groups within the device's limits. Throws InternalError.
/// `devices` has one device for each slot.
void verify(const Plan& plan, std::span<const DeviceInfo> devices);
inline void verify(const Plan& plan, const DeviceInfo& device) { verify(plan, {&device, 1}); }

/// Estimated time of a run: the slots work at the same time, transfers one after the other.
[[nodiscard]] double estimated_us(const Plan& plan);

/// `printer` writes the settings that its reasons name.
[[nodiscard]] std::string print(const Plan& plan, PlanDetail detail,
                                SettingPrinter printer = print_setting);

/// The same for programs: steps with their arguments, values, blocks.
[[nodiscard]] Json to_json(const Plan& plan, SettingPrinter printer = print_setting);

/// "weights", "state", "activations", "workspace".
[[nodiscard]] std::string_view name_of(PlannedBlock::Kind kind);
/// Bytes of all blocks of a kind.
[[nodiscard]] std::int64_t block_bytes(const Plan& plan, PlannedBlock::Kind kind);

}  // namespace morton::plan
