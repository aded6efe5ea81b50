// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "morton/device.hpp"
#include "morton/export.hpp"
#include "morton/message.hpp"
#include "morton/model.hpp"
#include "morton/plan_choices.hpp"

namespace morton {

namespace api {
struct CompiledState;
struct Inside;
}  // namespace api

/// Values of the inputs' open extents.
struct InputShapes {
  std::int64_t batch = 0;               ///< as CompileOptions::batch
  std::map<std::string, Shape> shapes;  ///< as CompileOptions::shapes
  bool operator==(const InputShapes&) const = default;
};

/// How a model is compiled.
struct CompileOptions {
  /// The value of the open extent named "batch", without one of each first dimension that is open.
  /// 0: `shapes` decide, else 1.
  std::int64_t batch = 0;
  /// Full shapes of inputs by name, for other open extents; what lists hold (ValueForm).
  std::map<std::string, Shape> shapes;
  /// Values of inputs by name. An input from whose value a shape follows
  /// (ModelSummary::planned_inputs) must be here, and every run must give the same.
  std::map<std::string, Tensor> values;
  /// Outputs that are fed back: output -> input of the same type and shape. The input becomes a
  /// state of the session, zero at first (Session::set_state), and takes the output's value behind
  /// each run. Neither is a port any more. A longer output makes the input grow along an open
  /// dimension, from nothing to the extent in `shapes`; a run without room is a UsageError.
  std::map<std::string, std::string> feeds;
  /// Kernels that must compute all problems of a family: family -> entry or recipe, e.g.
  /// {"gemm", "gemm.naive"}. Where one cannot, compiling fails and says why.
  std::map<std::string, std::string> use;
  /// Entries and recipes that may compute nothing, by name.
  std::vector<std::string> exclude;
  /// Work-group size by dimension, {4, 16}, of every kernel whose entry leaves as many of its
  /// dimensions open (tunables LOCAL, LOCAL_M, ...); empty: as each entry says. A kernel whose list
  /// of values does not hold it is not taken.
  std::vector<std::int64_t> local;
  /// Values of tunables by kernel, {"gemm.tile", {{"TILE_M", 8}}}, of those that its entry lists;
  /// what is not given is as the entry says. They go before what `local` sets.
  std::map<std::string, std::map<std::string, std::int64_t>> tunables;
  /// Whether tunables that are not given take values that were measured (docs/tuning.md): shipped
  /// ones, before them those in the cache folder, before these those of `tuning_files`.
  enum class Tuning : std::uint8_t { use, ignore } tuning = Tuning::use;
  std::vector<std::string> tuning_files;
  /// The cache folder of tuning data; empty: the device's, or as DeviceConfig::cache_dir says.
  std::string cache_dir;
  /// How kernels may round. Which do says `plan_text`.
  struct Precision {
    /// f16, bf16 and tf32 let kernels keep operands in memory rounded to that type.
    DType operands = DType::f32;
    /// f16 lets kernels that hold their operands as f16 add up as many as 16 products in f16 before
    /// they add that to a sum in f32 (docs/numerics.md). It takes operands in f16.
    DType sums = DType::f32;
  } precision;
  struct Limits {
    /// Most bytes of recipes' temporaries; else 64 MiB, or a 256th of a GPU's own memory if more.
    std::optional<std::int64_t> workspace_bytes;
    /// Most device memory of weights; others take turns, from a file (docs/memory.md), untried.
    std::optional<std::int64_t> weight_bytes;
    /// Most milliseconds of a kernel by the plan's estimate, at least 0.1 (docs/devices.md).
    std::optional<double> kernel_ms;
  } limits;
  /// Graph passes to leave out, by name.
  std::vector<std::string> skip_passes;
  /// Of a batch over several devices, each one's share, in any unit; empty: as speed is measured.
  std::vector<double> weights;
  /// Files with further catalogue entries.
  std::vector<std::string> catalogue_files;
  /// Which kernels share a launch.
  using Launches = JoinedLaunches;
  Launches launches = Launches::automatic;
  /// Other values of the open extents, two at most, for which kernels are chosen and built too:
  /// `CompiledModel::with_shapes` then takes what is best among all of them.
  std::vector<InputShapes> also;
  /// Of a model with open extents, whether those kernels are built that its kernels need beside
  /// them at other extents (to copy what has no tail here and will have one there).
  enum class OtherShapes : std::uint8_t { prepare, leave } other_shapes = OtherShapes::prepare;
  /// Whether kernels that are new on a device and driver are tried before they are trusted: the
  /// model runs once on made-up inputs, and layers that the new kernels compute are compared with
  /// the reference. What computes wrongly is refused from then on, another kernel takes its place,
  /// and the report's fallbacks say so. The cache folder remembers; without one nothing is tried,
  /// nor over several devices, nor where operands are rounded (precision).
  enum class SelfTest : std::uint8_t { once, off } self_test = SelfTest::once;
  /// When a model's first answer comes, on one device, where kernels of its own are not built yet:
  /// when they are (`ready`); or at once, from an interim plan of generic kernels, which all models
  /// share and which are built once for a device. With `at_once` a thread of low priority builds
  /// the model's own kernels meanwhile, and sessions go over to their plan between two runs
  /// (CompiledModel::latest). With `interim_alone` nobody does: for a process that answers once.
  /// Both plans agree within the bounds of docs/numerics.md. Where no interim plan can be (states,
  /// several devices, chosen kernels, no cache folder) the model is `ready`, and the log says why.
  /// What the model and `values` borrow must last until the final plan is there.
  enum class Start : std::uint8_t { ready, at_once, interim_alone } start = Start::ready;
  /// The treatment of fallbacks to another way of computing (CompileReport::fallbacks):
  /// report them, or fail with UnsupportedError.
  enum class Fallback : std::uint8_t { report, refuse } fallback = Fallback::report;
  /// Kernels that the cache folder cannot take, being full or not writable: report them and use
  /// them in this process alone; or fail with UsageError at the first.
  enum class Unkept : std::uint8_t { report, refuse } unkept = Unkept::report;
  /// Told what happens (one line each): dropped cache entries, passes, builds. May be empty.
  std::function<void(const Message&)> log;
  /// Told, while `compile` builds programs and first runs them, which share is done (0 to 1).
  std::function<void(double)> progress;
};

/// The part of each batch that one of several devices does.
struct DeviceShare {
  std::string device;     ///< its id
  std::int64_t rows = 0;  ///< items of the batch
  double weight = 0.0;    ///< what `rows` is in proportion to
};

/// Where the kernels of a compiled model came from, and how long each phase took.
struct CompileReport {
  struct Kernels {
    int from_memory = 0;
    int from_disk = 0;
    int built = 0;
    /// Objects that the driver compiled for those that worker processes built, as far as it shows
    /// (PoCL: one for each kernel, if none was compiled twice).
    int compiled_objects = 0;
    int for_other_shapes = 0;  ///< of all those: not used at these shapes
    int tried = 0;             ///< by the self-test, for the first time on this device and driver
    int unkept = 0;            ///< of those built: the cache folder cannot take them (notes)
  };
  struct Times {
    double passes_ms = 0.0, plan_ms = 0.0, build_ms = 0.0, upload_ms = 0.0, warm_up_ms = 0.0;
    double self_test_ms = 0.0;
  };
  /// Of the device.
  struct Memory {
    std::int64_t weight_bytes = 0;    ///< of constants, and of the places where some take turns
    std::int64_t streamed_bytes = 0;  ///< of constants that come from a file in each run
    /// Of a model made by with_shapes: constants that it shares with the one that it was made from;
    /// `weight_bytes` are those of its own.
    std::int64_t shared_weight_bytes = 0;
    /// Of inputs, outputs and activations, for each session. Recipes' temporaries and copies lie in
    /// what these leave free, unless the device can share whole places only.
    std::int64_t activation_bytes = 0;
    /// Of blocks that temporaries and copies have to themselves, for each session.
    std::int64_t workspace_bytes = 0;
    /// The most that is in use at one time, alignment included: of both together, and of each.
    std::int64_t largest_live_bytes = 0;
    std::int64_t largest_live_activation_bytes = 0, largest_live_workspace_bytes = 0;
  };

  /// Where the plan is from: made now, kept by an earlier start (docs/networks.md), or of a
  /// compiled file.
  enum class PlanOrigin : std::uint8_t { made, kept, compiled_file } plan = PlanOrigin::made;
  /// Whether the plan is the model's own, or one of generic kernels that answers until that is
  /// ready (CompileOptions::start).
  enum class Stage : std::uint8_t { final, interim } stage = Stage::final;
  /// Why the model got no interim plan though the options ask for one; empty where it got one, and
  /// where its own kernels are built.
  Message why_ready;
  Kernels kernels;
  Times times;
  Memory memory;
  std::vector<DeviceShare> shares;  ///< of several devices, in their order; else empty
  std::string weights_source;       ///< "given", or "measured, rows a second"; else empty
  std::vector<Message> notes;       ///< anything that a user should know of
  /// Fallbacks to another way of computing: a kernel that computes wrongly was replaced, a step
  /// runs on the host, kernels of a compiled file were built from source.
  std::vector<Message> fallbacks;
};

/// One operand of a step.
struct StepOperand {
  std::string name;
  std::string layout;  ///< "R_*_64_R", or the dimensions in their order, "ABCD"
  DType type = DType::f32;
  std::vector<std::int64_t> extents;  ///< of its dimensions, in their order
  std::vector<std::int64_t> padded;   ///< likewise with padding, as it lies in memory
};

/// One step of a plan, for people and tools.
struct StepInfo {
  std::string name;     ///< the node (or nodes) that it computes
  std::string kernel;   ///< catalogue entry
  std::string formats;  ///< arrangement of each operand
  /// A repacking step only moves a tensor into the format that its reader demands, a transfer to or
  /// from another device.
  enum class Role : std::uint8_t { compute, repack, transfer } role = Role::compute;
  /// Who computes: the host does some products where it shares the device's memory (docs/gemm.md).
  enum class Place : std::uint8_t { device, host } place = Place::device;
  int device = 0;  ///< of several devices, the one that runs it
  std::array<std::int64_t, 3> global{1, 1, 1}, local{1, 1, 1};  ///< work-items
  std::int64_t flop = 0;                                        ///< logical, not padded
  std::int64_t bytes = 0;                                       ///< memory of each operand, once
  std::int64_t logical_bytes = 0;    ///< the same without padding and what is not touched
  std::int64_t footprint_bytes = 0;  ///< of the memory behind it, once where operands share some
  std::vector<StepOperand> operands;
  double estimated_us = 0.0;
  std::map<std::string, std::int64_t> tunables;  ///< the values that its kernel is built with
};

/// A model planned for a device, with its programs built and its weights there. Immutable and
/// shared between threads and sessions.
class MORTON_API CompiledModel {
 public:
  [[nodiscard]] std::vector<PortInfo> inputs() const;  ///< with all extents known
  [[nodiscard]] std::vector<PortInfo> outputs() const;
  [[nodiscard]] const CompileReport& report() const;
  [[nodiscard]] std::vector<StepInfo> steps() const;
  /// The plan as text; with the reason of every choice when asked, and settings as `printer` writes
  /// them.
  using Detail = PlanDetail;
  [[nodiscard]] std::string plan_text(Detail detail, SettingPrinter printer = print_setting) const;
  /// Of all that the last digits of results depend on: the devices with their drivers, the kernels'
  /// texts and their arguments, in the order of the steps; not of estimates or places in memory.
  [[nodiscard]] std::string steps_digest() const;
  /// The device, the first of several: inputs and outputs are there.
  [[nodiscard]] const Device& device() const;
  [[nodiscard]] const std::vector<Device>& devices() const;

  /// Of a model with an interim plan: the model with its final plan, if that is ready; else this
  /// one.
  [[nodiscard]] CompiledModel latest() const;
  /// The same after waiting for it. Throws what building the final plan threw.
  [[nodiscard]] CompiledModel settled() const;

  /// Whether with_shapes may build kernels: it says in its report how many.
  using Missing = MissingKernels;
  /// The same model at other extents: a plan of its own, on the same programs and, where they lie
  /// alike, the same weights. Builds nothing: throws UnsupportedError, naming the kernels, where
  /// those that are built do not do and none may be built. UsageError for shapes that the model
  /// does not take; UnsupportedError over several devices.
  /// Of a model with an interim plan it is an interim plan too, unless the final one is ready by
  /// now.
  [[nodiscard]] CompiledModel with_shapes(const InputShapes& shapes,
                                          Missing missing = Missing::refuse) const;

 private:
  friend struct api::Inside;
  explicit CompiledModel(std::shared_ptr<const api::CompiledState> state);

  std::shared_ptr<const api::CompiledState> state_;
};

/// Plans `model` for `device`, builds what is not cached, uploads the weights and runs once on
/// scratch memory where programs are to be cached or libraries build kernels of their own. Throws
/// UsageError, ModelError, UnsupportedError or DeviceError.
[[nodiscard]] MORTON_API CompiledModel compile(const Model& model, const Device& device,
                                               const CompileOptions& options = {});

/// Builds the generic kernels that interim plans on the device are made of (CompileOptions::start),
/// and tries them, as far as its cache folder has them not. No later model waits for them. Returns
/// where they came from; nothing of a device without a cache folder. Throws as `compile`, and
/// UsageError where the folder cannot take them.
MORTON_API CompileReport::Kernels prepare_interim_kernels(const Device& device);

/// One model over several devices: each computes some rows of the batch, in proportion to its speed
/// or to `options.weights`. Speed is measured here: the model runs a few times on each device with
/// an equal share of the batch. A session takes whole inputs and gives whole outputs, as on one
/// device. UsageError for fewer rows than devices; UnsupportedError where a row of the result does
/// not depend on the same row of the inputs alone.
[[nodiscard]] MORTON_API CompiledModel compile(const Model& model,
                                               const std::vector<Device>& devices,
                                               const CompileOptions& options = {});

/// As plan_text, for programs: a JSON object with the steps, their arguments, the values and the
/// blocks of memory. Throws as plan_text.
[[nodiscard]] MORTON_API std::string plan_json(const Model& model,
                                               const std::vector<std::string>& device_jsons,
                                               const CompileOptions& options = {},
                                               SettingPrinter printer = print_setting);

/// The plan alone, for a device described by JSON (`morton devices --format json`), which need not
/// be present. Throws as `compile`, and UsageError for a text that is no device.
[[nodiscard]] MORTON_API std::string plan_text(const Model& model, const std::string& device_json,
                                               CompiledModel::Detail detail,
                                               const CompileOptions& options = {},
                                               SettingPrinter printer = print_setting);
/// Likewise over several devices. Where `options.weights` does not say otherwise, rows are in
/// proportion to the speed that the devices' plans estimate.
[[nodiscard]] MORTON_API std::string plan_text(const Model& model,
                                               const std::vector<std::string>& device_jsons,
                                               CompiledModel::Detail detail,
                                               const CompileOptions& options = {},
                                               SettingPrinter printer = print_setting);

}  // namespace morton
