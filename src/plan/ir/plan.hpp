// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/device/device_info.hpp"
#include "base/files/json_reader.hpp"
#include "base/for_tools.hpp"
#include "base/indexed.hpp"
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

struct Value;
struct PlannedBlock;

/// Numbers within a plan.
using ValueId = Id<Value>;
using BlockId = Id<PlannedBlock>;
using InstanceId = Id<InstanceSource>;
/// Of one of the plan's devices.
using DeviceIndex = Id<DeviceInfo>;
/// The device that a plan for one device has. In others, inputs and outputs are in its memory.
inline constexpr DeviceIndex kFirstDevice{0};
using Devices = Indexed<DeviceIndex, DeviceInfo>;

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
  /// Of weights (is_fixed): they come to the device from a file in each run, before the steps that
  /// read them, and have their memory for these steps alone.
  bool is_streamed = false;
  ValueId memory_of;  ///< the value whose memory this names under another shape; none: its own
  /// Of a value with `memory_of`: where in that value's memory it begins (a part of a joined
  /// tensor).
  std::int64_t offset_in_owner_bytes = 0;
  DeviceIndex device = kFirstDevice;  ///< whose memory it is in
  BlockId block;                      ///< none until it is placed
  std::int64_t offset_bytes = 0;
  std::int64_t bytes = 0;
};

using Values = Indexed<ValueId, Value>;

/// The value whose memory `id` names, through any number of names; of a part, the whole.
[[nodiscard]] ValueId memory_root(const Values& values, ValueId id);

/// True for values that keep, for all runs, what loading the plan gave them.
[[nodiscard]] inline bool is_fixed(const Value& value) {
  return value.kind == Value::Kind::constant || value.kind == Value::Kind::derived;
}

/// True for those of them that are on the device all the time.
[[nodiscard]] inline bool is_resident(const Value& value) {
  return is_fixed(value) && !value.is_streamed;
}

/// How a kernel gets a value as an image of RGBA texels.
struct PlannedImage {
  enum class Source : std::uint8_t {
    none,    ///< as a buffer
    shared,  ///< the image is made on the value's memory
    copied,  ///< it has memory of its own, which each run fills from the value
    kept,    ///< the same, filled once: the value never changes (is_fixed)
  } source = Source::none;
  std::int64_t width = 0, height = 0;  ///< in texels
  DType texel = DType::f32;
};

/// A value that a step passes to its kernel or routine.
struct PassedValue {
  ValueId id;
  PlannedImage image{};
};

/// What a step passes to its kernel or routine: a value or an integer.
struct StepArgument {
  std::string name;
  std::variant<PassedValue, std::int64_t> passed;

  /// The value, or null for an integer.
  [[nodiscard]] const PassedValue* value() const { return std::get_if<PassedValue>(&passed); }
  /// The integer, or null for a value.
  [[nodiscard]] const std::int64_t* integer() const { return std::get_if<std::int64_t>(&passed); }
};

/// A step that launches a kernel.
struct KernelLaunch {
  InstanceId instance;
  std::array<std::int64_t, 3> global{1, 1, 1};
  std::array<std::int64_t, 3> local{1, 1, 1};
};

/// A step that calls a routine of a library.
struct LibraryCall {
  /// Who computes. A step on the host waits for the steps before it and maps its operands.
  enum class Place : std::uint8_t { device, host } place = Place::device;
  std::string library, routine;
};

/// A step that moves bytes from one value to another, which may be another device's: a stretch, or
/// several of one size at equal distances.
struct Transfer {
  ValueId from, to;
  std::int64_t from_offset_bytes = 0, to_offset_bytes = 0;  ///< of the first stretch
  std::int64_t bytes = 0;                                   ///< of each stretch
  std::int64_t stretches = 1;
  std::int64_t from_pitch_bytes = 0, to_pitch_bytes = 0;  ///< from a stretch to the next

  [[nodiscard]] std::int64_t all_bytes() const { return stretches * bytes; }
  /// From the first byte that is written to the last.
  [[nodiscard]] std::int64_t to_span_bytes() const {
    return (stretches - 1) * to_pitch_bytes + bytes;
  }
};

/// How much a step does.
struct StepCost {
  std::int64_t flop = 0;   ///< logical, not padded
  std::int64_t work = 0;   ///< that the kernel does, by its entry: Entry::Cost::work
  std::int64_t bytes = 0;  ///< memory of each operand, once
  /// The same without padding and without what is not touched (plan/lower/traffic.hpp), and of how
  /// much memory that is where operands share some.
  std::int64_t logical_bytes = 0, footprint_bytes = 0;
  double estimated_us = 0.0;
};

/// One launch of a kernel, one call of a library, or one transfer.
struct Step {
  std::string name;    ///< the nodes that it computes, or what it repacks or transfers
  std::string kernel;  ///< catalogue entry; "transfer" for a transfer
  enum class Role : std::uint8_t {
    compute,  ///< a node, or a step of a recipe for one
    repack,   ///< moves a tensor into the format that its reader demands
  } role = Role::compute;
  DeviceIndex device = kFirstDevice;  ///< that runs it; of a transfer, that gets the bytes
  std::variant<KernelLaunch, LibraryCall, Transfer> action;
  std::vector<StepArgument> arguments;  ///< in the kernel's order; none of a transfer
  std::vector<ValueId> reads, writes;
  /// It writes where it reads: each element is computed from the one that it replaces.
  bool in_place = false;
  StepCost cost;
  Environment tunables;   ///< the values that it is built with
  Message reason;         ///< why this kernel, and why with these values
  std::string problem;    ///< what it solves, for printing
  TunedProblem tuned_as;  ///< what tuning data knows that by

  /// What the step is; null for the other two kinds.
  [[nodiscard]] const KernelLaunch* launch() const { return std::get_if<KernelLaunch>(&action); }
  [[nodiscard]] const LibraryCall* library_call() const {
    return std::get_if<LibraryCall>(&action);
  }
  [[nodiscard]] const Transfer* transfer() const { return std::get_if<Transfer>(&action); }
};

/// The step's launch; of a step that launches no kernel, one work-item of none.
[[nodiscard]] MORTON_FOR_TOOLS KernelLaunch launch_of(const Step& step);

/// True where several kernels share the step's launch (plan/lower/join_launches.hpp). Then an
/// argument comes once for each of them.
[[nodiscard]] bool shares_launch(const Step& step);

/// True for steps that the host computes.
[[nodiscard]] bool is_on_host(const Step& step);

/// A stretch of device memory.
struct PlannedBlock {
  enum class Kind : std::uint8_t {
    weights,
    streamed,  ///< of weights that take turns (Value::is_streamed)
    state,
    activations,  ///< and, unless they have blocks of their own, of temporaries and copies
    workspace,    ///< of temporaries and copies alone, where a device shares whole places only
    loading,      ///< of constants that only load steps read, each while they need it
  } kind = Kind::activations;
  std::int64_t bytes = 0;
  DeviceIndex device = kFirstDevice;  ///< that it belongs to
};

/// What goes in or out of a plan, by the model's name for it.
struct Port {
  std::string name;
  ValueId value;
};

/// The most bytes of values that live at the same step, alignment included: what the blocks for
/// them cannot be smaller than together.
struct LiveBytes {
  std::int64_t all = 0;                         ///< of states, activations and workspace
  std::int64_t activations = 0, workspace = 0;  ///< of each alone
};

/// A device that a plan is for.
struct PlannedDevice {
  std::string fingerprint;
  std::string peaks;  ///< what estimates rest on and where it is from
};

/// How a graph runs on its devices: pure data. Steps of one device run in order, at each run, and a
/// transfer waits for the steps before it on the device that it reads from.
struct Plan {
  Indexed<DeviceIndex, PlannedDevice> devices;
  Values values;
  std::vector<Step> load_steps;  ///< run once, when the plan is loaded
  std::vector<Step> steps;
  Indexed<InstanceId, InstanceSource> instances;
  std::vector<std::vector<InstanceId>> programs;  ///< instances that are built together
  Indexed<BlockId, PlannedBlock> blocks;
  std::vector<Port> inputs, outputs, states;
  /// For each task, what was considered: lines for PlanDetail::why.
  std::vector<Message> considered;
  /// "gemm.tile is left out: ..." for what a self-test found wrong; the same may come again. And
  /// why no kernels share a launch, where the driver does not build that.
  std::vector<std::string> left_out;
  LiveBytes largest_live;
  std::map<std::string, TaskDecision> decisions;  ///< by task
};

/// Estimated time of a run: the devices work at the same time, transfers one after the other.
[[nodiscard]] double estimated_us(const Plan& plan);

/// "weights", "streamed", "state", "activations", "workspace", "loading".
[[nodiscard]] std::string_view name_of(PlannedBlock::Kind kind);
/// Bytes of all blocks of a kind.
[[nodiscard]] std::int64_t block_bytes(const Plan& plan, PlannedBlock::Kind kind);
/// Device memory of the weights: those that stay, and the blocks in which the others take turns.
[[nodiscard]] std::int64_t weight_memory(const Plan& plan);
/// Bytes of the weights that come to the device in each run.
[[nodiscard]] std::int64_t streamed_bytes(const Plan& plan);

}  // namespace morton::plan
