// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "device/open/opencl.hpp"
#include "device/open/opencl_device.hpp"
#include "plan/ir/plan.hpp"

namespace morton::launch {

/// A call of a library's routine: its last command, behind those of the calls before it.
struct CallEvent {
  const char* routine;
  cl::Event last;
};

/// The commands of one step: the first and the last, which are the same where there is one.
struct StepEvents {
  cl::Event first, last;
  std::vector<CallEvent> calls = {};  ///< of a step that calls a library on the device, in order
};

/// Gives the memory of a value.
using BufferOf = std::function<const cl::Buffer&(ValueId)>;

/// A step with its arguments set: enqueuing it decides nothing.
class LaunchedStep {
 public:
  explicit LaunchedStep(const Step& step) : step_(&step) {}
  LaunchedStep(const LaunchedStep&) = delete;
  LaunchedStep& operator=(const LaunchedStep&) = delete;
  virtual ~LaunchedStep() = default;

  /// Puts `buffer` in the place of value `value` wherever the step uses it.
  virtual void rebind(ValueId value, const cl::Buffer& buffer) = 0;

  /// Enqueues; `events` may be null, and stay without events where the host computes. Throws
  /// cl::Error (the caller knows the device).
  virtual void enqueue(const cl::CommandQueue& queue, StepEvents* events) = 0;

  [[nodiscard]] const Step& step() const { return *step_; }

 private:
  const Step* step_;
};

/// A step that launches a kernel: `function` of `program`, on `device`, where images of operands
/// are made. Throws cl::Error when the driver refuses.
[[nodiscard]] std::unique_ptr<LaunchedStep> launch_kernel(const Step& step,
                                                          const std::string& function,
                                                          const cl::Program& program,
                                                          const OpenClDevice& device,
                                                          const BufferOf& buffer_of);

}  // namespace morton::launch
