// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "device/opencl.hpp"
#include "plan/plan.hpp"

namespace morton {

/// A step with its kernel object and arguments set: enqueuing it decides nothing.
class LaunchedStep {
 public:
  /// `buffer_of` gives the memory of a value. Throws DeviceError when the driver refuses.
  LaunchedStep(const Step& step, const std::string& function, const cl::Program& program,
               const std::function<const cl::Buffer&(int)>& buffer_of);

  /// Puts `buffer` in the place of value `value` wherever the step uses it.
  void rebind(int value, const cl::Buffer& buffer);

  /// Enqueues; `event` may be null. Throws cl::Error (the caller knows the device).
  void enqueue(const cl::CommandQueue& queue, cl::Event* event);

  [[nodiscard]] const Step& step() const { return *step_; }

 private:
  const Step* step_;
  cl::Kernel kernel_;
  cl::NDRange global_, local_;
};

}  // namespace morton
