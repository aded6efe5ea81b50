// SPDX-License-Identifier: Apache-2.0
#ifdef MORTON_HAS_CLBLAST
#include "launch/clblast.hpp"

#include <clblast_c.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "launch/clblast_parameters.hpp"
#include "launch/library_call.hpp"

namespace morton::launch {
namespace {

/// A routine by its name in CLBlast's documentation, and the function that is called.
struct ClblastRoutine {
  const char* name;
  const char* function;
};
constexpr ClblastRoutine kCopy{"xCOPY", "CLBlastScopy"};
constexpr ClblastRoutine kGemm{"xGEMM", "CLBlastSgemm"};
constexpr ClblastRoutine kGemmBatched{"xGEMMBATCHED", "CLBlastSgemmBatched"};
constexpr ClblastRoutine kGemv{"xGEMV", "CLBlastSgemv"};
constexpr ClblastRoutine kIm2col{"xIM2COL", "CLBlastSim2col"};
constexpr ClblastRoutine kConvgemm{"xCONVGEMM", "CLBlastSconvgemm"};

/// Calls of CLBlast that compute one step, enqueued one after the other without waiting. Operands
/// are dense row-major f32.
class ClblastStep : public LibraryStep {
 public:
  using LibraryStep::LibraryStep;

  void enqueue(const cl::CommandQueue& queue, StepEvents* events) final {
    cl_command_queue raw_queue = queue();
    if (events != nullptr) queue.enqueueMarkerWithWaitList(nullptr, &events->first);
    if (starts()) {
      call(kCopy, events, [&](cl_event* last) {
        return CLBlastScopy(elements_of_dst(), buffer("start")(), 0, 1, buffer("dst")(), 0, 1,
                            &raw_queue, last);
      });
    }
    compute(&raw_queue, events);
  }

 protected:
  /// The call that computes, which adds beta() times what dst holds.
  virtual void compute(cl_command_queue* queue, StepEvents* events) = 0;
  [[nodiscard]] virtual std::size_t elements_of_dst() const = 0;

  [[nodiscard]] std::size_t size(const std::string& name) const {
    return static_cast<std::size_t>(extent(name));
  }
  [[nodiscard]] bool starts() const { return has_buffer("start"); }
  [[nodiscard]] float beta() const { return starts() ? 1.0F : 0.0F; }

  /// Calls `enqueue`, which takes the place of the call's event or null. One call may be several
  /// kernels, of which CLBlast gives the last one's event.
  template <typename Enqueue>
  void call(const ClblastRoutine& routine, StepEvents* events, const Enqueue& enqueue) const {
    cl_event last = nullptr;
    require_success(routine, enqueue(events == nullptr ? nullptr : &last));
    if (events == nullptr) return;
    events->last = cl::Event(last);
    events->calls.push_back({routine.name, events->last});
  }

 private:
  void require_success(const ClblastRoutine& routine, CLBlastStatusCode status) const {
    if (status == CLBlastSuccess) return;
    throw DeviceError("step " + step().name + ": " + routine.function + " returned status " +
                      std::to_string(static_cast<int>(status)) +
                      " (CLBlastStatusCode in clblast_c.h); leave " + step().kernel +
                      " out for this problem");
  }
};

/// dst[M,N] = lhs[M,K] * rhs[K,N].
class ClblastGemm : public ClblastStep {
 public:
  using ClblastStep::ClblastStep;

 private:
  void compute(cl_command_queue* queue, StepEvents* events) override {
    const std::size_t m = size("M"), n = size("N"), k = size("K");
    call(kGemm, events, [&](cl_event* last) {
      return CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, m, n, k,
                          1.0F, buffer("lhs")(), 0, k, buffer("rhs")(), 0, n, beta(),
                          buffer("dst")(), 0, n, queue, last);
    });
  }
  std::size_t elements_of_dst() const override { return size("M") * size("N"); }
};

/// dst[M,1] = lhs[M,K] * rhs[K,1].
class GemvStep : public ClblastStep {
 public:
  using ClblastStep::ClblastStep;

 private:
  void compute(cl_command_queue* queue, StepEvents* events) override {
    const std::size_t m = size("M"), k = size("K");
    // It reads what it multiplies by zero, and zero times NaN is NaN.
    if (!starts()) {
      cl::Event filled;
      cl::CommandQueue(*queue, true)
          .enqueueFillBuffer(buffer("dst"), 0.0F, 0, m * sizeof(float), nullptr, &filled);
      if (events != nullptr) events->calls.push_back({"fill (OpenCL)", filled});
    }
    call(kGemv, events, [&](cl_event* last) {
      return CLBlastSgemv(CLBlastLayoutRowMajor, CLBlastTransposeNo, m, k, 1.0F, buffer("lhs")(), 0,
                          k, buffer("rhs")(), 0, 1, beta(), buffer("dst")(), 0, 1, queue, last);
    });
  }
  std::size_t elements_of_dst() const override { return size("M"); }
};

/// dst[B,M,N] = lhs[M,K] * rhs[B,K,N]: one xGEMM, or xGEMMBATCHED over offsets into rhs and dst
/// (R18, section 5.1.2).
class FilterGemmStep : public ClblastStep {
 public:
  FilterGemmStep(const Step& step, const BufferOf& buffer_of) : ClblastStep(step, buffer_of) {
    for (std::size_t b = 0; b < size("B"); ++b) {
      lhs_offsets_.push_back(0);
      rhs_offsets_.push_back(b * size("K") * size("N"));
      dst_offsets_.push_back(b * size("M") * size("N"));
    }
    alphas_.assign(size("B"), 1.0F);
    betas_.assign(size("B"), beta());
  }

 private:
  void compute(cl_command_queue* queue, StepEvents* events) override {
    const std::size_t m = size("M"), n = size("N"), k = size("K");
    if (size("B") == 1) {
      call(kGemm, events, [&](cl_event* last) {
        return CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, m, n, k,
                            1.0F, buffer("lhs")(), 0, k, buffer("rhs")(), 0, n, beta(),
                            buffer("dst")(), 0, n, queue, last);
      });
      return;
    }
    call(kGemmBatched, events, [&](cl_event* last) {
      return CLBlastSgemmBatched(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, m,
                                 n, k, alphas_.data(), buffer("lhs")(), lhs_offsets_.data(), k,
                                 buffer("rhs")(), rhs_offsets_.data(), n, betas_.data(),
                                 buffer("dst")(), dst_offsets_.data(), n, size("B"), queue, last);
    });
  }
  std::size_t elements_of_dst() const override { return size("B") * size("M") * size("N"); }

  std::vector<std::size_t> lhs_offsets_, rhs_offsets_, dst_offsets_;
  std::vector<float> alphas_, betas_;
};

/// dst[N,K,P] = the windows of src[N,C,H,W]: one xIM2COL, which takes the images for channels of
/// one image (R18, section 5.1.2).
class Im2colStep : public ClblastStep {
 public:
  using ClblastStep::ClblastStep;

 private:
  void compute(cl_command_queue* queue, StepEvents* events) override {
    call(kIm2col, events, [&](cl_event* last) {
      return CLBlastSim2col(CLBlastKernelModeCrossCorrelation, size("N") * size("C"), size("H"),
                            size("W"), size("KH"), size("KW"), size("PT"), size("PL"), size("SH"),
                            size("SW"), size("DH"), size("DW"), buffer("src")(), 0, buffer("dst")(),
                            0, queue, last);
    });
  }
  std::size_t elements_of_dst() const override { return size("N") * size("K") * size("P"); }
};

/// dst[N,O,OH,OW] = src[N,C,H,W] convolved with weights[O,I,KH,KW], without columns in memory.
class ConvgemmStep : public ClblastStep {
 public:
  using ClblastStep::ClblastStep;

 private:
  void compute(cl_command_queue* queue, StepEvents* events) override {
    call(kConvgemm, events, [&](cl_event* last) {
      return CLBlastSconvgemm(CLBlastKernelModeCrossCorrelation, size("C"), size("H"), size("W"),
                              size("KH"), size("KW"), size("PT"), size("PL"), size("SH"),
                              size("SW"), size("DH"), size("DW"), size("O"), size("N"),
                              buffer("src")(), 0, buffer("weights")(), 0, buffer("dst")(), 0, queue,
                              last);
    });
  }
  std::size_t elements_of_dst() const override {
    return size("N") * size("O") * size("OH") * size("OW");
  }
};

}  // namespace

std::unique_ptr<LaunchedStep> launch_clblast(const Step& step, const OpenClDevice& device,
                                             const BufferOf& buffer_of) {
  use_clblast_parameters(device);
  const std::string& routine = std::get<LibraryCall>(step.action).routine;
  if (routine == "gemm") return std::make_unique<ClblastGemm>(step, buffer_of);
  if (routine == "gemv") return std::make_unique<GemvStep>(step, buffer_of);
  if (routine == "filter_gemm") return std::make_unique<FilterGemmStep>(step, buffer_of);
  if (routine == "im2col") return std::make_unique<Im2colStep>(step, buffer_of);
  if (routine == "convgemm") return std::make_unique<ConvgemmStep>(step, buffer_of);
  throw InternalError("run: step " + step.name + " asks CLBlast for '" + routine + "'");
}

}  // namespace morton::launch
#endif
