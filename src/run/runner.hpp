// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "base/stopwatch.hpp"
#include "device/use/pinned_write.hpp"
#include "device/use/timing.hpp"
#include "device/use/transfer.hpp"
#include "launch/launch.hpp"
#include "morton/tensor.hpp"
#include "run/answer_limit.hpp"
#include "run/loaded_plan.hpp"
#include "run/spare_results.hpp"
#include "run/wait_policy.hpp"

namespace morton::run {

class WeightTurns;

/// A call of a library's routine within a step, from the end of the call before it.
struct CallRecord {
  const char* routine;
  double device_us = 0.0;
};

/// Device and host time of one step.
struct StepRecord {
  const Step* step = nullptr;
  std::optional<DeviceSpan> device;  ///< nothing when the device's clock gave no sensible answer
  double enqueued_at_us = 0.0;       ///< of the host's clock, from the run's start
  double enqueue_us = 0.0;
  std::optional<double> host_us;       ///< to the step's end, of runs that wait after each
  std::vector<CallRecord> calls = {};  ///< which make up `device`; none where it is nothing
};

/// Runs a loaded plan: a queue for each device and the memory between the steps. Inputs and outputs
/// are on the first device. Belongs to one thread at a time.
///
/// Where an AnswerLimit is set and a device does not keep it, the runner is lost: a DeviceError
/// says so then and whenever it is used again, and what it holds is never freed, since the driver
/// may use it yet.
class Runner {
 public:
  Runner(std::shared_ptr<const LoadedPlan> loaded, OpenClDevice::QueueKind kind);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  /// Waits for what is enqueued, so that memory does not go back to the pool under a kernel.
  ~Runner();

  [[nodiscard]] const LoadedPlan& loaded() const { return *loaded_; }
  /// Value of the input or output named `name`; throws UsageError that lists the names.
  [[nodiscard]] ValueId input(const std::string& name) const;
  [[nodiscard]] ValueId output(const std::string& name) const;

  /// Value of the state named `name`; throws UsageError that lists the names.
  [[nodiscard]] ValueId state(const std::string& name) const;
  /// Copies a dense tensor into the memory of an input or state; `tensor` may be reused on return.
  /// Throws UsageError for a wrong type or shape.
  void write(ValueId value, const Tensor& tensor);
  /// Likewise for the runs before `take_back`: until then `tensor`'s memory must neither change nor
  /// go. The steps read it where it lies, if the device is the host's processor and the tensor
  /// large; else the queue copies it when the write's turn comes.
  void lend(ValueId value, const Tensor& tensor);
  /// Ends what `lend` began, behind the runs. Inputs that were lent are not set from then on.
  void take_back();
  /// False where the input was lent since its own memory was last written.
  [[nodiscard]] bool is_set(ValueId input) const { return !lent_.gone.contains(input); }
  /// Makes the input one that was lent and taken back.
  void forget(ValueId input) { lent_.gone.insert(input); }
  /// Waits, then copies out. Throws likewise.
  void read(ValueId value, Tensor& tensor);
  /// Likewise several values, into tensors of their types and shapes, after one wait.
  void read(std::span<const ValueId> values, std::span<Tensor> tensors);
  /// Enqueues all steps and reads these outputs. The steps write a large one where the caller will
  /// have it, if the device is the host's processor: a later `read` tells what it holds then. Rows
  /// of several devices are read from each.
  [[nodiscard]] std::vector<Tensor> compute(std::span<const ValueId> outputs);
  enum class Part : std::uint8_t { all, computing };
  /// Enqueues all steps, or all but those that repack, and flushes. A transfer between devices
  /// waits on the host for the bytes that it reads, so with several devices this returns when their
  /// results have come in; likewise a step on the host waits for those before it. Throws UsageError
  /// where an input that was lent for runs that are over has not been set again.
  void enqueue(Part part = Part::all);
  /// Enqueues the steps one by one and waits after each. Throws UsageError unless the queue
  /// profiles.
  void run_step_by_step();
  /// Enqueues the steps one by one, waits after each and calls `after` with its index.
  void run_watched(const std::function<void(std::size_t)>& after);
  /// The memory of a value of the first device as it is now, in its arrangement. Waits.
  [[nodiscard]] std::vector<std::byte> bytes_of(ValueId value);
  /// An event behind all that is enqueued.
  [[nodiscard]] cl::Event marker();
  void wait();
  /// Waits; for destructors, which have nobody to tell of errors.
  void finish_quietly() noexcept;
  /// Whether it can never run again.
  [[nodiscard]] bool is_lost() const { return !watch_.lost.empty(); }

  /// Maps an input (to write) or output (to read). Throws UsageError where it is mapped already.
  [[nodiscard]] std::span<std::byte> map(ValueId value, MappedBuffer::Access access);
  void unmap();
  [[nodiscard]] bool is_mapped() const { return !mapped_.empty(); }

  /// Uses the caller's in-order queue from now on; a null one restores the runner's own. Throws
  /// UsageError for a queue of another context or device, or while anything is mapped.
  void use_queue(const cl::CommandQueue& queue);
  /// Runs on an own queue of this kind from now on. Throws UsageError while the queue is the
  /// caller's or anything is mapped.
  void use_kind(OpenClDevice::QueueKind kind);
  /// Uses the caller's buffer for an input, output or state; a null one restores its own memory.
  /// Throws UsageError for a buffer that does not fit or is another port's, or while anything is
  /// mapped.
  void bind(ValueId value, const cl::Buffer& buffer);
  /// The memory of a value, which another runner of the device may be bound to while this lives.
  [[nodiscard]] const cl::Buffer& memory_of(ValueId value) const { return buffer_of(value); }
  /// True while the queue or some buffer is the caller's.
  [[nodiscard]] bool uses_callers_objects() const;

  /// Times of the last enqueued run; empty unless the queue profiles. Waits.
  [[nodiscard]] std::vector<StepRecord> step_records();

 private:
  [[nodiscard]] const cl::Buffer& buffer_of(ValueId value) const;
  [[nodiscard]] const Value& value_at(ValueId value) const;
  [[nodiscard]] const DeviceInfo& info(DeviceIndex device) const {
    return loaded_->device(device).info();
  }
  [[nodiscard]] const cl::CommandQueue& queue_of(DeviceIndex device) const {
    return queues_[device];
  }
  /// Memory and steps of one device.
  void prepare(DeviceIndex device);
  void slice_blocks(DeviceIndex device);
  /// Throws UsageError unless a run may begin, whose results go to the runner's own memory.
  void begin_run();
  void enqueue_steps(Part part);
  void enqueue_step(std::size_t index, StepEvents* events);
  /// Likewise, with its times where the queue profiles. `run` began with the run.
  void enqueue_timed(std::size_t index, const Stopwatch& run);
  void transfer(const Transfer& transfer);
  /// The step as a transfer of rows of an input that is lent, to a device that is not the first:
  /// they need not lie on the first one. Null for all other steps.
  [[nodiscard]] const Transfer* as_lent_rows(std::size_t index) const;
  void transfer_lent(const Transfer& rows);
  /// Writes into the whole of the value, and does not wait for it.
  void send_lent(ValueId value, DeviceIndex device, std::span<const std::byte> bytes);
  /// What the first device needs of the bytes of an input that is lent.
  [[nodiscard]] std::span<const std::byte> needed_on_first(ValueId input,
                                                           std::span<const std::byte> whole) const;
  /// Whether the rows, of another device, stay there, since this run's reader takes them from
  /// there.
  [[nodiscard]] bool stays(const Transfer& rows) const;
  /// Brings rows of `value` that stayed on their devices to the first one.
  void bring_in(ValueId value);
  /// The part of an output's bytes that the first device has.
  [[nodiscard]] std::span<std::byte> rows_on_first(ValueId output,
                                                   std::span<std::byte> whole) const;
  /// Reads the others, from each device.
  void read_stayed(ValueId output, std::span<std::byte> whole) const;
  /// As `read`, and what stayed on other devices is read there.
  void read_there(std::span<const ValueId> values, std::span<Tensor> tensors);
  /// Another input, output or state that has the memory of `value`; null where there is none.
  [[nodiscard]] const Port* other_name(ValueId value) const;
  /// A tensor for the output's value, into which the steps write if they can.
  [[nodiscard]] Tensor tensor_for(ValueId output);
  /// Gives the value the host's memory in place of its own, and says whether that can be.
  [[nodiscard]] bool work_in(ValueId value, const Tensor& tensor);
  void return_results();
  /// Own memory of the input holds what is set; a buffer of the caller's in its place does not
  /// count.
  void was_written(ValueId value);
  [[nodiscard]] bool is_lent(ValueId value) const;
  [[nodiscard]] bool same_place(ValueId a, ValueId b) const;
  /// Throws UsageError for a destination of another type or shape.
  void require_fits(ValueId value, const Tensor& tensor) const;
  void require_writable(ValueId value, const Tensor& tensor) const;
  void check_buffer(ValueId value, const cl::Buffer& buffer) const;
  /// Gives the steps this buffer for all names of the value's memory.
  void rebind(ValueId value, const cl::Buffer& buffer);
  /// Before a call that waits for the device: waits for it as long as the limit says, if there is
  /// one. Throws DeviceError where the runner is lost by then.
  void await(DeviceIndex device);
  [[noreturn]] void give_up(DeviceIndex device);
  /// The first step of the run that has not ended, or "".
  [[nodiscard]] std::string step_in_flight(DeviceIndex device) const;
  void require_not_lost() const;
  /// Leaves all that the driver may use to the process.
  void abandon() noexcept;
  void require_unmapped(const std::string& action) const;
  void require_unmapped(ValueId value, const std::string& action) const;
  void with_errors(const std::string& what, const std::function<void()>& call) const;

  struct Mapping {
    ValueId value;
    std::unique_ptr<MappedBuffer> memory;
  };

  std::shared_ptr<const LoadedPlan> loaded_;
  OpenClDevice::QueueKind kind_;                   ///< of the first queue
  Indexed<DeviceIndex, cl::CommandQueue> queues_;  ///< the first may be the caller's
  struct OwnQueue {
    cl::CommandQueue queue;
    OpenClDevice::QueueKind kind;
  };
  OwnQueue own_queue_;  ///< of the first device
  struct OwnMemory {
    Indexed<BlockId, Block> blocks;
    Indexed<ValueId, cl::Buffer> buffers;  ///< as `buffers_`, without the caller's
  };
  OwnMemory own_;
  Indexed<ValueId, cl::Buffer> buffers_;  ///< constants have theirs in the loaded plan
  std::vector<std::unique_ptr<LaunchedStep>> launched_;  ///< by step; null for transfers
  struct Transfers {
    std::vector<std::byte> staging;       ///< host memory for the largest
    std::set<ValueId> read_apart;         ///< outputs that this run's caller reads from each device
    std::vector<const Transfer*> stayed;  ///< of the last run, whose rows are not on the first
    std::shared_ptr<WeightTurns> turns;   ///< null where no weights are streamed
  };
  Transfers transfers_;
  struct Writes {
    std::map<ValueId, StagedWrite> staged;  ///< small ones
    std::map<ValueId, PinnedWrite> pinned;  ///< large inputs that are lent
  };
  Writes writes_;
  /// Memory of the host's in which steps read or write, and what holds it.
  struct Lent {
    std::map<ValueId, Block> inputs;
    struct Result {
      Block block;
      Tensor tensor;
    };
    std::map<ValueId, Result> results;
    std::set<ValueId> now, gone;  ///< inputs that are lent, and that were and are not set
    std::map<ValueId, std::span<const std::byte>> bytes;  ///< of them, with several devices
    SpareResults spare;
    std::map<ValueId, Tensor> kept;  ///< where there is a limit: what is on its way to the device
  };
  Lent lent_;
  /// What the host's clock said of a step of the last profiled run.
  struct HostTimes {
    double enqueued_at_us = 0.0, enqueue_us = 0.0;
    std::optional<double> whole_us;
  };
  /// Of the last run's steps; empty unless the queue profiles or there is a limit.
  struct Times {
    std::vector<StepEvents> events;
    std::vector<HostTimes> host;
  };
  Times times_;
  struct Watch {
    AnswerLimit limit;
    std::string lost{};  ///< why it can run no more; empty while it can
  };
  Watch watch_;
  std::vector<Mapping> mapped_;
  /// How reads wait: the first one behind a run for that, others for themselves.
  struct ReadWaits {
    WaitPolicy behind_run, alone;
    std::optional<Stopwatch> run{};  ///< since its inputs were lent or its steps enqueued
    void begin() {
      if (!run) run.emplace();
    }
  };
  ReadWaits read_waits_;
};

}  // namespace morton::run
