// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "bench/peers/host_peer.hpp"
#include "bench/peers/shared_library.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

// Of cblas.h, as Debian builds OpenBLAS: indices are ints.
constexpr int kCblasRowMajor = 101;
constexpr int kCblasPlain = 111;
constexpr int kCblasTransposed = 112;
using CblasSgemm = void(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                        const float* a, int lda, const float* b, int ldb, float beta, float* c,
                        int ldc);

int cblas_transposition(GemmShape::Order order) {
  return order == GemmShape::Order::plain ? kCblasPlain : kCblasTransposed;
}

class OpenBlas : public HostPeer {
 public:
  explicit OpenBlas(const PeerRequest& request)
      : HostPeer(request),
        library_("openblas", {{"libopenblas.so.0"},
                              request.folder,
                              "install Debian's package libopenblas0-pthread"}) {
    library_.load("cblas_sgemm", sgemm_);
    void (*set_threads)(int) = nullptr;
    library_.load("openblas_set_num_threads", set_threads);
    library_.load("openblas_get_num_threads", get_threads_);
    library_.load("openblas_get_config", config_);
    library_.load("openblas_get_corename", core_);
    set_threads(threads());
  }

  [[nodiscard]] std::string version() const override {
    // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..."
    const std::string config = config_();
    const std::size_t end = config.find(' ', config.find(' ') + 1);
    return fmt::format("{}, kernels for {}, threads: {}", config.substr(0, end), core_(),
                       get_threads_());
  }

 protected:
  void multiply(const Operands& operands) override {
    sgemm_(kCblasRowMajor, cblas_transposition(shape().lhs), cblas_transposition(shape().rhs),
           static_cast<int>(shape().m), static_cast<int>(shape().n), static_cast<int>(shape().k),
           1.0F, operands.lhs.get(), static_cast<int>(lhs_pitch()), operands.rhs.get(),
           static_cast<int>(rhs_pitch()), 0.0F, operands.dst.get(), static_cast<int>(shape().n));
  }

 private:
  SharedLibrary library_;
  CblasSgemm* sgemm_ = nullptr;
  int (*get_threads_)() = nullptr;
  char* (*config_)() = nullptr;
  char* (*core_)() = nullptr;
};

}  // namespace

std::unique_ptr<Peer> open_openblas(const PeerRequest& request) {
  return std::make_unique<OpenBlas>(request);
}

}  // namespace morton::cli
