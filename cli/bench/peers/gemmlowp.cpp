// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "bench/peers/host_peer.hpp"
#include "bench/peers/shared_library.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

/// gemmlowp's product of u8 matrices, which bench/peers/gemmlowp_product.cpp makes a library of.
class Gemmlowp : public Peer {
 public:
  explicit Gemmlowp(const PeerRequest& request)
      : shape_(request.shape),
        host_(host_of(request.device)),
        library_("gemmlowp", {{"libmorton_gemmlowp.so"},
                              request.folder,
                              "install Debian's package libgemmlowp-dev, build the target "
                              "morton_gemmlowp and give --peer-folder build/bench"}) {
    if (shape_.type != DType::u8) {
      throw UsageError("--peer gemmlowp: on this processor it multiplies u8; use --type u8");
    }
    int (*runs_here)() = nullptr;
    library_.load("morton_gemmlowp_runs_here", runs_here);
    library_.load("morton_gemmlowp_product", product_);
    library_.load("morton_gemmlowp_kernel", kernel_);
    if (runs_here() == 0) {
      throw UsageError("--peer gemmlowp: " + library_.path() +
                       " has instructions that this processor lacks");
    }
    sets_.resize(request.sets);
    for (Operands& set : sets_) {
      // Touched here, so that no call pays for the first use of a page.
      set.dst.assign(static_cast<std::size_t>(shape_.m * shape_.n), 0);
    }
  }

  [[nodiscard]] std::string version() const override {
    return fmt::format("gemmlowp, kernel {}, threads: {}", kernel_(), host_.threads);
  }
  /// The peak is that of f32.
  [[nodiscard]] Place place() const override { return Place::elsewhere; }
  /// A thread waits for 4 million instructions that do nothing, then sleeps.
  [[nodiscard]] AfterCall after_call() const override {
    return host_.threads > 1 ? AfterCall::spins_briefly : AfterCall::idle;
  }

  void set_inputs(const Tensor& lhs, const Tensor& rhs) override {
    for (Operands& set : sets_) {
      set.lhs.assign(lhs.as<std::uint8_t>().begin(), lhs.as<std::uint8_t>().end());
      set.rhs.assign(rhs.as<std::uint8_t>().begin(), rhs.as<std::uint8_t>().end());
    }
  }

  void enqueue(std::size_t set) override {
    Operands& operands = sets_[set];
    product_(operands.lhs.data(), operands.rhs.data(), operands.dst.data(),
             static_cast<int>(shape_.m), static_cast<int>(shape_.n), static_cast<int>(shape_.k),
             host_.threads);
  }
  void wait() override {}

  [[nodiscard]] Tensor result(std::size_t set) override {
    Tensor dst = Tensor::allocate(DType::i32, {shape_.m, shape_.n});
    std::ranges::copy(sets_[set].dst, dst.as_mutable<std::int32_t>().begin());
    return dst;
  }

 private:
  struct Operands {
    std::vector<std::uint8_t> lhs, rhs;
    std::vector<std::int32_t> dst;
  };

  GemmShape shape_;
  Host host_;
  SharedLibrary library_;
  void (*product_)(const std::uint8_t*, const std::uint8_t*, std::int32_t*, int, int, int,
                   int) = nullptr;
  const char* (*kernel_)() = nullptr;
  std::vector<Operands> sets_;
};

}  // namespace

std::unique_ptr<Peer> open_gemmlowp(const PeerRequest& request) {
  return std::make_unique<Gemmlowp>(request);
}

}  // namespace morton::cli
