// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "bench/contender.hpp"
#include "bench/peers/peer.hpp"

namespace morton::cli {

/// Another library's product, measured as our kernels are.
class PeerContender : public Contender {
 public:
  /// Throws as `open_peer` does.
  PeerContender(const std::string& name, const PeerRequest& request);

  [[nodiscard]] About about() const override;

 protected:
  Tensor compute(const Inputs& inputs) override;
  void enqueue(std::size_t set, Part part) override;
  void wait() override;
  [[nodiscard]] bool has_packing() const override { return false; }
  std::optional<double> device_ms(int /*runs*/) override { return std::nullopt; }
  [[nodiscard]] double unit_roundoff() const override { return 0x1p-24; }

 private:
  std::unique_ptr<Peer> peer_;
};

}  // namespace morton::cli
