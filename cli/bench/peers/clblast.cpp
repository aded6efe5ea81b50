// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "bench/peers/clblast_parameters.hpp"
#include "bench/peers/peer.hpp"
#include "bench/peers/shared_library.hpp"
#include "common/device_buffers.hpp"

namespace morton::cli {
namespace {

// Of clblast_c.h.
constexpr int kClblastRowMajor = 101;
constexpr int kClblastPlain = 111;
constexpr int kClblastTransposed = 112;
using ClblastSgemm = int(int layout, int trans_a, int trans_b, std::size_t m, std::size_t n,
                         std::size_t k, float alpha, cl_mem a, std::size_t a_offset,
                         std::size_t a_pitch, cl_mem b, std::size_t b_offset, std::size_t b_pitch,
                         float beta, cl_mem c, std::size_t c_offset, std::size_t c_pitch,
                         cl_command_queue* queue, void* event);
using ClblastSgemmBatched = int(int layout, int trans_a, int trans_b, std::size_t m, std::size_t n,
                                std::size_t k, const float* alphas, cl_mem a,
                                const std::size_t* a_offsets, std::size_t a_pitch, cl_mem b,
                                const std::size_t* b_offsets, std::size_t b_pitch,
                                const float* betas, cl_mem c, const std::size_t* c_offsets,
                                std::size_t c_pitch, std::size_t count, cl_command_queue* queue,
                                void* event);

int clblast_transposition(GemmShape::Order order) {
  return order == GemmShape::Order::plain ? kClblastPlain : kClblastTransposed;
}

class ClBlast : public Peer {
 public:
  explicit ClBlast(const PeerRequest& request)
      : library_("clblast",
                 {{"libclblast.so.1"}, request.folder, "install Debian's package libclblast1"}),
        shape_(request.shape),
        memory_(request.device),
        queue_(memory_.make_queue()) {
    library_.load("CLBlastSgemm", sgemm_);
    library_.load("CLBlastSgemmBatched", sgemm_batched_);
    parameters_ = request.clblast_parameters;
    if (!parameters_.empty()) override_by_file(library_, memory_.device_id(), parameters_);
    for (std::size_t i = 0; i < request.sets; ++i) {
      sets_.push_back({allocate(shape_.m * shape_.k), allocate(shape_.k * shape_.n),
                       allocate(shape_.m * shape_.n)});
    }
    for (std::size_t b = 0; b < static_cast<std::size_t>(shape_.batch); ++b) {
      batch_.lhs.push_back(b * static_cast<std::size_t>(shape_.m * shape_.k));
      batch_.rhs.push_back(b * static_cast<std::size_t>(shape_.k * shape_.n));
      batch_.dst.push_back(b * static_cast<std::size_t>(shape_.m * shape_.n));
    }
    batch_.alphas.assign(batch_.lhs.size(), 1.0F);
    batch_.betas.assign(batch_.lhs.size(), 0.0F);
  }

  [[nodiscard]] std::string version() const override {
    // Its interface tells no version.
    return fmt::format("CLBlast ({}) on the same device, {}", library_.path(),
                       parameters_.empty() ? "as shipped" : "tuned: " + parameters_);
  }
  [[nodiscard]] Place place() const override { return Place::same_processor; }
  [[nodiscard]] AfterCall after_call() const override { return AfterCall::idle; }

  void set_inputs(const Tensor& lhs, const Tensor& rhs) override {
    for (const Operands& set : sets_) {
      DeviceMemory::write(queue_, set.lhs, {lhs.data(), lhs.bytes()});
      DeviceMemory::write(queue_, set.rhs, {rhs.data(), rhs.bytes()});
    }
  }

  void enqueue(std::size_t set) override {
    const Operands& operands = sets_[set];
    const auto m = static_cast<std::size_t>(shape_.m);
    const auto n = static_cast<std::size_t>(shape_.n);
    const auto k = static_cast<std::size_t>(shape_.k);
    cl_command_queue queue = queue_.get();
    if (shape_.batch > 0) {
      const int status = sgemm_batched_(kClblastRowMajor, kClblastPlain, kClblastPlain, m, n, k,
                                        batch_.alphas.data(), operands.lhs.get(), batch_.lhs.data(),
                                        k, operands.rhs.get(), batch_.rhs.data(), n,
                                        batch_.betas.data(), operands.dst.get(), batch_.dst.data(),
                                        n, batch_.lhs.size(), &queue, nullptr);
      return require_clblast(status, "CLBlastSgemmBatched");
    }
    const int status = sgemm_(kClblastRowMajor, clblast_transposition(shape_.lhs),
                              clblast_transposition(shape_.rhs), m, n, k, 1.0F, operands.lhs.get(),
                              0, shape_.lhs == GemmShape::Order::plain ? k : m, operands.rhs.get(),
                              0, shape_.rhs == GemmShape::Order::plain ? n : k, 0.0F,
                              operands.dst.get(), 0, n, &queue, nullptr);
    require_clblast(status, "CLBlastSgemm");
  }

  void wait() override { DeviceMemory::finish(queue_); }

  [[nodiscard]] Tensor result(std::size_t set) override {
    Shape extents{shape_.m, shape_.n};
    if (shape_.batch > 0) extents.insert(extents.begin(), shape_.batch);
    Tensor dst = Tensor::allocate(DType::f32, extents);
    DeviceMemory::read(queue_, sets_[set].dst, {dst.mutable_data(), dst.bytes()});
    return dst;
  }

 private:
  struct Operands {
    DeviceBuffer lhs, rhs, dst;
  };

  /// Where the matrices of a batch begin in their buffers.
  struct Batch {
    std::vector<std::size_t> lhs, rhs, dst;
    std::vector<float> alphas, betas;
  };

  /// For as many matrices of this size as the batch has.
  [[nodiscard]] DeviceBuffer allocate(std::int64_t elements) const {
    const std::int64_t all = elements * std::max<std::int64_t>(shape_.batch, 1);
    return memory_.allocate(static_cast<std::size_t>(all) * sizeof(float));
  }

  SharedLibrary library_;
  GemmShape shape_;
  DeviceMemory memory_;
  DeviceQueue queue_;
  std::vector<Operands> sets_;
  Batch batch_;
  ClblastSgemm* sgemm_ = nullptr;
  ClblastSgemmBatched* sgemm_batched_ = nullptr;
  std::string parameters_;
};

}  // namespace

std::unique_ptr<Peer> open_clblast(const PeerRequest& request) {
  return std::make_unique<ClBlast>(request);
}

}  // namespace morton::cli
