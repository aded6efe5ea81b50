// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "morton/compile.hpp"
#include "morton/export.hpp"
#include "morton/tensor.hpp"

namespace morton {

/// When a step was enqueued, began and ended, in nanoseconds of the device's clock, whose zero is
/// the driver's.
struct StepSpan {
  std::int64_t enqueued_ns = 0;  ///< 0 where the driver does not say
  std::int64_t start_ns = 0, end_ns = 0;
};

/// A call of a library's routine, which is a part of a step.
struct CallTime {
  std::string routine;     ///< as the library names it: "xGEMM"
  double device_us = 0.0;  ///< from the end of the step's call before it to its own
};

/// Time of one step of a run.
struct StepTime {
  std::string name;
  std::string kernel;
  StepInfo::Place place = StepInfo::Place::device;
  /// From the device's clock; nothing where it gives no sense, and for a step on the host.
  std::optional<double> device_us;
  /// Of the host, to put the step into the queue; of a step on the host, until it has waited for
  /// the steps before it and computed.
  double enqueue_us = 0.0;
  std::optional<StepSpan> device_span;  ///< wherever device_us is
  double enqueued_at_us = 0.0;          ///< of the host's clock, from the run's start
  /// Of the host's clock, from enqueuing the step alone to its end; after run_step_by_step only.
  std::optional<double> host_us;
  /// Of a step that a library computes on the device, in their order. They add up to device_us.
  /// None where the clock of one of them gives no sense.
  std::vector<CallTime> calls;
};

/// Work that was enqueued; `wait` returns when it is done.
class MORTON_API Event {
 public:
  /// Throws DeviceError when the device failed.
  void wait() const;

 private:
  friend class Session;
  struct State;
  explicit Event(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

/// How a session runs.
struct SessionOptions {
  /// Measures each step with the device's clock; costs a few microseconds a step.
  enum class Profiling : std::uint8_t { off, on } profiling = Profiling::off;
};

/// A queue, the activations and the state of one compiled model. Belongs to one thread at a time;
/// any number of sessions share a CompiledModel. `run` and `enqueue` take the model's final plan in
/// place of an interim one as soon as it is ready (CompileOptions::start), unless anything is
/// mapped or the caller's own (interop.hpp).
class MORTON_API Session {
 public:
  /// Takes memory on the device for all but the weights. Throws DeviceError where there is too
  /// little.
  explicit Session(const CompiledModel& model, const SessionOptions& options = {});
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// One inference: inputs by name (all of them, of the compiled shapes and types), outputs in the
  /// model's order. Throws UsageError for a wrong input; DeviceError. The inputs are for this run
  /// alone: `enqueue` wants them set. Where the device is the host's processor, steps read large
  /// inputs and write large outputs where they lie, without copies. The memory of outputs that the
  /// caller drops serves later runs of the session. Until the next run `get_output` and
  /// `map_output` may show such an output with the caller's changes.
  [[nodiscard]] std::vector<NamedTensor> run(std::span<const NamedTensor> inputs);

  /// The parts of `run`: write an input, enqueue all steps, read an output. A second `enqueue` may
  /// follow before the first has ended; steps run in order. With a step on the host (StepInfo)
  /// `enqueue` returns once that is done. `set_input` throws UsageError for an unknown name or a
  /// wrong type or shape; `value` is copied and need not live on.
  void set_input(const std::string& name, const Tensor& value);
  /// Which steps `enqueue` takes: all of them; or, to measure what packing costs, those that
  /// compute, on what an earlier run of all left packed. Outputs are undefined after the latter.
  enum class Steps : std::uint8_t { all, computing };
  /// All steps on the inputs that are set. Throws UsageError where one was never set or anything is
  /// mapped, and DeviceError.
  Event enqueue(Steps steps = Steps::all);
  /// Waits for the enqueued work, then copies into `destination`, which has the output's type and
  /// shape. Throws UsageError for an unknown name or another type or shape; DeviceError.
  void get_output(const std::string& name, Tensor& destination);
  [[nodiscard]] Tensor get_output(const std::string& name);
  /// Several outputs, after one wait, in the order of `names`. Throws as get_output.
  [[nodiscard]] std::vector<Tensor> get_outputs(const std::vector<std::string>& names);

  /// A state of the model (weights that a training step renews): its value after the enqueued work,
  /// and another value in its place. A state that runs fill (CompileOptions::feeds) is as long as
  /// it is filled: it is read so, and may be set shorter than it can grow. Throws UsageError for an
  /// unknown name or a wrong type or shape.
  [[nodiscard]] Tensor get_state(const std::string& name);
  void set_state(const std::string& name, const Tensor& value);
  /// Lets states that runs fill (CompileOptions::feeds) begin with nothing again, where another run
  /// would find no room.
  void empty_full_states();

  /// An input's memory mapped for writing, or an output's for reading: no copy where host and
  /// device share memory. Valid until `unmap`, which must come before the next `enqueue`; until
  /// then a mapped port can be neither mapped again nor set (UsageError).
  [[nodiscard]] Tensor map_input(const std::string& name);
  [[nodiscard]] Tensor map_output(const std::string& name);
  void unmap();

  /// Goes on on another device: the model is compiled there (programs from its cache), weights and
  /// state move along; the next `run` happens there. UsageError while anything is mapped or the
  /// queue or a buffer is the caller's (interop.hpp).
  void move_to(const Device& device);

  /// Measures the steps of the runs that follow, or stops it. Waits for what is enqueued. Throws
  /// UsageError while the queue is the caller's (interop.hpp) or anything is mapped.
  void set_profiling(SessionOptions::Profiling profiling);
  /// One run for which the host waits after each step, so that it has a time on the host's clock.
  /// As `enqueue` it wants the inputs set.
  /// Throws UsageError unless the session profiles.
  void run_step_by_step();
  /// Times of the last run's steps, which are those of `model()`; empty without profiling. Waits
  /// for it.
  [[nodiscard]] std::vector<StepTime> step_times();
  /// What the session runs: of a model with an interim plan the final one, from the run on that
  /// found it ready.
  [[nodiscard]] const CompiledModel& model() const;

 private:
  friend struct api::Inside;
  /// Runs with this compiled model, the same one, from now on. What the caller has set goes along;
  /// what the steps compute comes back with the next run.
  void go_over(const CompiledModel& to);
  /// Between two runs: goes over to the final plan where that is ready.
  void take_final_plan();

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace morton
