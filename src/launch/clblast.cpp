// SPDX-License-Identifier: Apache-2.0
#ifdef MORTON_HAS_CLBLAST
#include "launch/clblast.hpp"

#include <clblast_c.h>

#include <string>

#include "base/error.hpp"
#include "launch/library_call.hpp"

namespace morton {
namespace {

/// dst = lhs * rhs on dense row-major f32.
class GemmStep : public LibraryStep {
 public:
  using LibraryStep::LibraryStep;

  void enqueue(const cl::CommandQueue& queue, StepEvents* events) override {
    cl_command_queue raw_queue = queue();
    cl_event last = nullptr;
    // One product may be several kernels, of which CLBlast gives the last one's event.
    if (events != nullptr) queue.enqueueMarkerWithWaitList(nullptr, &events->first);
    const auto m = static_cast<std::size_t>(extent("M"));
    const auto n = static_cast<std::size_t>(extent("N"));
    const auto k = static_cast<std::size_t>(extent("K"));
    const CLBlastStatusCode status =
        CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, m, n, k, 1.0F,
                     buffer("lhs")(), 0, k, buffer("rhs")(), 0, n, 0.0F, buffer("dst")(), 0, n,
                     &raw_queue, events == nullptr ? nullptr : &last);
    if (status != CLBlastSuccess) {
      throw DeviceError("step " + step().name + ": CLBlastSgemm returned status " +
                        std::to_string(static_cast<int>(status)) +
                        " (CLBlastStatusCode in clblast_c.h); leave gemm.clblast out for this "
                        "product");
    }
    if (events != nullptr) events->last = cl::Event(last);
  }
};

}  // namespace

std::unique_ptr<LaunchedStep> launch_clblast(const Step& step, const BufferOf& buffer_of) {
  if (step.routine == "gemm") return std::make_unique<GemmStep>(step, buffer_of);
  throw InternalError("run: step " + step.name + " asks CLBlast for '" + step.routine + "'");
}

}  // namespace morton
#endif
