// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "base/stopwatch.hpp"
#include "device/use/timing.hpp"
#include "device/use/transfer.hpp"
#include "launch/launch.hpp"
#include "morton/tensor.hpp"
#include "run/loaded_plan.hpp"

namespace morton::run {

/// Device and host time of one step.
struct StepRecord {
  const Step* step = nullptr;
  std::optional<DeviceSpan> device;  ///< nothing when the device's clock gave no sensible answer
  double enqueued_at_us = 0.0;       ///< of the host's clock, from the run's start
  double enqueue_us = 0.0;
  std::optional<double> host_us;  ///< to the step's end, of runs that wait after each
};

/// Runs a loaded plan: a queue for each device and the memory between the steps. Inputs and outputs
/// are on the first device. Belongs to one thread at a time.
class Runner {
 public:
  Runner(std::shared_ptr<const LoadedPlan> loaded, OpenClDevice::QueueKind kind);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  /// Waits for what is enqueued, so that memory does not go back to the pool under a kernel.
  ~Runner();

  [[nodiscard]] const LoadedPlan& loaded() const { return *loaded_; }
  /// Value of the input or output named `name`; throws UsageError that lists the names.
  [[nodiscard]] int input(const std::string& name) const;
  [[nodiscard]] int output(const std::string& name) const;

  /// Value of the state named `name`; throws UsageError that lists the names.
  [[nodiscard]] int state(const std::string& name) const;
  /// Copies a dense tensor into the memory of an input or state; `tensor` may be reused on return.
  /// Throws UsageError for a wrong type or shape.
  void write(int value, const Tensor& tensor);
  /// Likewise, but the queue reads `tensor`'s memory when the write's turn comes: until then it
  /// must neither change nor go.
  void lend(int value, const Tensor& tensor);
  /// Waits, then copies out. Throws likewise.
  void read(int value, Tensor& tensor);
  /// Likewise several values, into tensors of their types and shapes, after one wait.
  void read(std::span<const int> values, std::span<Tensor> tensors);
  enum class Part : std::uint8_t { all, computing };
  /// Enqueues all steps, or all but those that repack, and flushes. A transfer between devices
  /// waits on the host for the bytes that it reads, so with several devices this returns when their
  /// results have come in; likewise a step on the host waits for those before it.
  void enqueue(Part part = Part::all);
  /// Enqueues the steps one by one and waits after each. Throws UsageError unless the queue
  /// profiles.
  void run_step_by_step();
  /// Enqueues the steps one by one, waits after each and calls `after` with its index.
  void run_watched(const std::function<void(std::size_t)>& after);
  /// The memory of a value of the first device as it is now, in its arrangement. Waits.
  [[nodiscard]] std::vector<std::byte> bytes_of(int value) const;
  /// An event behind all that is enqueued.
  [[nodiscard]] cl::Event marker();
  void wait();
  /// Waits; for destructors, which have nobody to tell of errors.
  void finish_quietly() noexcept;

  /// Maps an input (to write) or output (to read). Throws UsageError where it is mapped already.
  [[nodiscard]] std::span<std::byte> map(int value, MappedBuffer::Access access);
  void unmap();
  [[nodiscard]] bool is_mapped() const { return !mapped_.empty(); }

  /// Uses the caller's in-order queue from now on; a null one restores the runner's own. Throws
  /// UsageError for a queue of another context or device, or while anything is mapped.
  void use_queue(const cl::CommandQueue& queue);
  /// Runs on an own queue of this kind from now on. Throws UsageError while the queue is the
  /// caller's or anything is mapped.
  void use_kind(OpenClDevice::QueueKind kind);
  /// Uses the caller's buffer for an input or output; a null one restores its own memory. Throws
  /// UsageError for a buffer that does not fit or is another port's, or while anything is mapped.
  void bind(int value, const cl::Buffer& buffer);
  /// True while the queue or some buffer is the caller's.
  [[nodiscard]] bool uses_callers_objects() const;

  /// Times of the last enqueued run; empty unless the queue profiles. Waits.
  [[nodiscard]] std::vector<StepRecord> step_records();

 private:
  [[nodiscard]] const cl::Buffer& buffer_of(int value) const;
  [[nodiscard]] const Value& value_at(int value) const;
  [[nodiscard]] const DeviceInfo& info(int slot) const { return loaded_->device(slot).info(); }
  [[nodiscard]] const cl::CommandQueue& queue_of(int slot) const {
    return queues_[static_cast<std::size_t>(slot)];
  }
  /// Memory and steps of one device.
  void prepare(int slot);
  void slice_blocks(int slot);
  void enqueue_step(std::size_t index, StepEvents* events);
  /// Likewise, with its times where the queue profiles. `run` began with the run.
  void enqueue_timed(std::size_t index, const Stopwatch& run);
  void transfer(const Transfer& transfer);
  /// Throws UsageError when another input or output has the memory of `value`.
  void require_own_memory(int value) const;
  [[nodiscard]] bool same_place(int a, int b) const;
  /// Throws UsageError for a destination of another type or shape.
  void require_fits(int value, const Tensor& tensor) const;
  void require_writable(int value, const Tensor& tensor) const;
  void check_buffer(int value, const cl::Buffer& buffer) const;
  /// Gives the steps this buffer for all names of the value's memory.
  void rebind(int value, const cl::Buffer& buffer);
  void require_unmapped(const std::string& action) const;
  void require_unmapped(int value, const std::string& action) const;
  void with_errors(const std::string& what, const std::function<void()>& call) const;

  struct Mapping {
    int value = -1;
    std::unique_ptr<MappedBuffer> memory;
  };

  std::shared_ptr<const LoadedPlan> loaded_;
  OpenClDevice::QueueKind kind_;          ///< of the first queue
  OpenClDevice::QueueKind own_kind_;      ///< of `own_queue_`
  std::vector<cl::CommandQueue> queues_;  ///< by slot; the first may be the caller's
  cl::CommandQueue own_queue_;            ///< of the first device
  std::vector<Block> blocks_;
  std::vector<cl::Buffer> buffers_;  ///< by value; constants have theirs in the loaded plan
  std::vector<cl::Buffer> own_;      ///< as `buffers_`, without the caller's
  std::vector<std::unique_ptr<LaunchedStep>> launched_;  ///< by step; null for transfers
  std::vector<std::byte> staging_;                       ///< host memory for the largest transfer
  std::map<int, StagedWrite> staged_;                    ///< small writes, by value
  std::vector<StepEvents> events_;
  /// What the host's clock said of a step of the last profiled run.
  struct HostTimes {
    double enqueued_at_us = 0.0, enqueue_us = 0.0;
    std::optional<double> whole_us;
  };
  std::vector<HostTimes> host_times_;
  std::vector<Mapping> mapped_;
};

}  // namespace morton::run
