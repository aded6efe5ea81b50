// SPDX-License-Identifier: Apache-2.0
#include "launch/launch.hpp"

namespace morton {
namespace {

/// As few dimensions as say the same: drivers launch those faster.
cl::NDRange to_range(const std::array<std::int64_t, 3>& size, std::size_t dimensions) {
  const auto extent = [&](std::size_t i) { return static_cast<cl::size_type>(size[i]); };
  if (dimensions == 1) return {extent(0)};
  if (dimensions == 2) return {extent(0), extent(1)};
  return {extent(0), extent(1), extent(2)};
}

std::size_t dimensions_of(const Step& step) {
  for (std::size_t i = 3; i-- > 1;) {
    if (step.global[i] != 1 || step.local[i] != 1) return i + 1;
  }
  return 1;
}

/// One kernel with its kernel object.
class KernelStep : public LaunchedStep {
 public:
  KernelStep(const Step& step, const std::string& function, const cl::Program& program,
             const BufferOf& buffer_of)
      : LaunchedStep(step),
        kernel_(program, function.c_str()),
        global_(to_range(step.global, dimensions_of(step))),
        local_(to_range(step.local, dimensions_of(step))) {
    for (std::size_t i = 0; i < step.arguments.size(); ++i) {
      const StepArgument& argument = step.arguments[i];
      const auto index = static_cast<cl_uint>(i);
      if (argument.kind == StepArgument::Kind::integer) {
        kernel_.setArg(index, static_cast<cl_int>(argument.number));
      } else {
        kernel_.setArg(index, buffer_of(static_cast<int>(argument.number)));
      }
    }
  }

  void rebind(int value, const cl::Buffer& buffer) override {
    for (std::size_t i = 0; i < step().arguments.size(); ++i) {
      const StepArgument& argument = step().arguments[i];
      if (argument.kind == StepArgument::Kind::value && argument.number == value) {
        kernel_.setArg(static_cast<cl_uint>(i), buffer);
      }
    }
  }

  void enqueue(const cl::CommandQueue& queue, StepEvents* events) override {
    queue.enqueueNDRangeKernel(kernel_, cl::NullRange, global_, local_, nullptr,
                               events == nullptr ? nullptr : &events->last);
    if (events != nullptr) events->first = events->last;
  }

 private:
  cl::Kernel kernel_;
  cl::NDRange global_, local_;
};

}  // namespace

std::unique_ptr<LaunchedStep> launch_kernel(const Step& step, const std::string& function,
                                            const cl::Program& program, const BufferOf& buffer_of) {
  return std::make_unique<KernelStep>(step, function, program, buffer_of);
}

}  // namespace morton
