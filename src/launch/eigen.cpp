// SPDX-License-Identifier: Apache-2.0
#include "launch/eigen.hpp"

#include "base/error.hpp"
#include "device/use/host_product.hpp"
#include "launch/library_call.hpp"

namespace morton::launch {
namespace {

/// dst = lhs * rhs on dense row-major f32.
class EigenGemm : public LibraryStep {
 public:
  EigenGemm(const Step& step, const OpenClDevice& device, const BufferOf& buffer_of)
      : LibraryStep(step, buffer_of), info_(&device.info()) {}

  void enqueue(const cl::CommandQueue& queue, StepEvents* /*events*/) override {
    multiply_mapped(queue, *info_, {buffer("lhs"), buffer("rhs"), buffer("dst")},
                    {extent("M"), extent("N"), extent("K")});
  }

 private:
  const DeviceInfo* info_;
};

}  // namespace

std::unique_ptr<LaunchedStep> launch_eigen(const Step& step, const OpenClDevice& device,
                                           const BufferOf& buffer_of) {
  const std::string& routine = std::get<LibraryCall>(step.action).routine;
  if (routine == "gemm") return std::make_unique<EigenGemm>(step, device, buffer_of);
  throw InternalError("run: step " + step.name + " asks Eigen for '" + routine + "'");
}

}  // namespace morton::launch
