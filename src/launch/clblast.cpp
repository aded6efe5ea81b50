// SPDX-License-Identifier: Apache-2.0
#ifdef MORTON_HAS_CLBLAST
#include "launch/clblast.hpp"

#include <clblast_c.h>

#include <map>
#include <string>

#include "base/error.hpp"

namespace morton {
namespace {

/// dst = lhs * rhs on dense row-major f32.
class GemmStep : public LaunchedStep {
 public:
  GemmStep(const Step& step, const BufferOf& buffer_of) : LaunchedStep(step) {
    for (const StepArgument& argument : step.arguments) {
      if (argument.kind == StepArgument::Kind::integer) {
        extents_[argument.name] = static_cast<std::size_t>(argument.number);
      } else {
        buffers_[argument.name] = buffer_of(static_cast<int>(argument.number));
      }
    }
  }

  void rebind(int value, const cl::Buffer& buffer) override {
    for (const StepArgument& argument : step().arguments) {
      if (argument.kind == StepArgument::Kind::value && argument.number == value) {
        buffers_[argument.name] = buffer;
      }
    }
  }

  void enqueue(const cl::CommandQueue& queue, StepEvents* events) override {
    cl_command_queue raw_queue = queue();
    cl_event last = nullptr;
    // One product may be several kernels, of which CLBlast gives the last one's event.
    if (events != nullptr) queue.enqueueMarkerWithWaitList(nullptr, &events->first);
    const std::size_t m = extents_["M"];
    const std::size_t n = extents_["N"];
    const std::size_t k = extents_["K"];
    const CLBlastStatusCode status =
        CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, m, n, k, 1.0F,
                     buffers_["lhs"](), 0, k, buffers_["rhs"](), 0, n, 0.0F, buffers_["dst"](), 0,
                     n, &raw_queue, events == nullptr ? nullptr : &last);
    if (status != CLBlastSuccess) {
      throw DeviceError("step " + step().name + ": CLBlastSgemm returned status " +
                        std::to_string(static_cast<int>(status)) +
                        " (CLBlastStatusCode in clblast_c.h); leave gemm.clblast out for this "
                        "product");
    }
    if (events != nullptr) events->last = cl::Event(last);
  }

 private:
  std::map<std::string, std::size_t> extents_;
  std::map<std::string, cl::Buffer> buffers_;
};

}  // namespace

std::unique_ptr<LaunchedStep> launch_clblast(const Step& step, const BufferOf& buffer_of) {
  if (step.routine == "gemm") return std::make_unique<GemmStep>(step, buffer_of);
  throw InternalError("run: step " + step.name + " asks CLBlast for '" + step.routine + "'");
}

}  // namespace morton
#endif
