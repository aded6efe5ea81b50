// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "bench/peers/host_peer.hpp"
#include "bench/peers/shared_library.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

// Of dnnl.h. Matrices of dnnl_sgemm are row-major.
using OneDnnSgemm = int(char trans_a, char trans_b, std::int64_t m, std::int64_t n, std::int64_t k,
                        float alpha, const float* a, std::int64_t lda, const float* b,
                        std::int64_t ldb, float beta, float* c, std::int64_t ldc);
struct Version {
  int major, minor, patch;
};

char onednn_transposition(GemmShape::Order order) {
  return order == GemmShape::Order::plain ? 'N' : 'T';
}

class OneDnn : public HostPeer {
 public:
  explicit OneDnn(const PeerRequest& request)
      : HostPeer(request),
        library_("onednn", {{"libdnnl.so.2", "libdnnl.so.3"},
                            request.folder,
                            "install Debian's package libdnnl2"}),
        openmp_("onednn", {{"libgomp.so.1"}, "", "install Debian's package libgomp1"}) {
    library_.load("dnnl_sgemm", sgemm_);
    library_.load("dnnl_version", version_);
    void (*set_threads)(int) = nullptr;
    openmp_.load("omp_set_num_threads", set_threads);
    set_threads(threads());
  }

  [[nodiscard]] std::string version() const override {
    const Version* const v = version_();
    return fmt::format("oneDNN {}.{}.{}, threads: {}", v->major, v->minor, v->patch, threads());
  }

 protected:
  void multiply(const Operands& operands) override {
    const int status =
        sgemm_(onednn_transposition(shape().lhs), onednn_transposition(shape().rhs), shape().m,
               shape().n, shape().k, 1.0F, operands.lhs.get(), lhs_pitch(), operands.rhs.get(),
               rhs_pitch(), 0.0F, operands.dst.get(), shape().n);
    if (status != 0) {
      throw DeviceError(fmt::format(
          "onednn: dnnl_sgemm returned status {} (dnnl_status_t in dnnl_types.h)", status));
    }
  }

 private:
  SharedLibrary library_;
  SharedLibrary openmp_;  ///< the threads of Debian's build
  OneDnnSgemm* sgemm_ = nullptr;
  const Version* (*version_)() = nullptr;
};

}  // namespace

std::unique_ptr<Peer> open_onednn(const PeerRequest& request) {
  return std::make_unique<OneDnn>(request);
}

}  // namespace morton::cli
