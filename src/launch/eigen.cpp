// SPDX-License-Identifier: Apache-2.0
#include "launch/eigen.hpp"

#include <map>
#include <string>

#include "base/error.hpp"
#include "device/host_product.hpp"

namespace morton {
namespace {

/// dst = lhs * rhs on dense row-major f32.
class GemmStep : public LaunchedStep {
 public:
  GemmStep(const Step& step, const OpenClDevice& device, const BufferOf& buffer_of)
      : LaunchedStep(step), info_(&device.info()) {
    std::map<std::string, std::int64_t> extents;
    for (const StepArgument& argument : step.arguments) {
      if (argument.kind == StepArgument::Kind::integer) {
        extents[argument.name] = argument.number;
      } else {
        place_of(argument.name) = buffer_of(static_cast<int>(argument.number));
      }
    }
    extents_ = {extents.at("M"), extents.at("N"), extents.at("K")};
  }

  void rebind(int value, const cl::Buffer& buffer) override {
    for (const StepArgument& argument : step().arguments) {
      if (argument.kind == StepArgument::Kind::value && argument.number == value) {
        place_of(argument.name) = buffer;
      }
    }
  }

  void enqueue(const cl::CommandQueue& queue, StepEvents* /*events*/) override {
    multiply_mapped(queue, *info_, buffers_, extents_);
  }

 private:
  cl::Buffer& place_of(const std::string& operand) {
    return operand == "lhs" ? buffers_.lhs : operand == "rhs" ? buffers_.rhs : buffers_.dst;
  }

  const DeviceInfo* info_;
  ProductExtents extents_;
  ProductBuffers buffers_;
};

}  // namespace

std::unique_ptr<LaunchedStep> launch_eigen(const Step& step, const OpenClDevice& device,
                                           const BufferOf& buffer_of) {
  if (step.routine == "gemm") return std::make_unique<GemmStep>(step, device, buffer_of);
  throw InternalError("run: step " + step.name + " asks Eigen for '" + step.routine + "'");
}

}  // namespace morton
