// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/peers/peer.hpp"

namespace morton::cli {

/// The host's processors, as a library uses them.
struct Host {
  Peer::Place place = Peer::Place::elsewhere;  ///< whether the OpenCL device is that processor
  /// As many as that device has compute units, else as the host has cores.
  int threads = 1;
};
[[nodiscard]] Host host_of(const Device& device);

/// A library that computes on the host's processors, on host memory; a call returns when it is
/// done.
class HostPeer : public Peer {
 public:
  explicit HostPeer(const PeerRequest& request);

  [[nodiscard]] Place place() const override { return host_.place; }
  [[nodiscard]] AfterCall after_call() const override {
    return host_.threads > 1 ? AfterCall::spins : AfterCall::idle;
  }
  void set_inputs(const Tensor& lhs, const Tensor& rhs) override;
  void enqueue(std::size_t set) override { multiply(sets_[set]); }
  void wait() override {}
  [[nodiscard]] Tensor result(std::size_t set) override;

 protected:
  struct Free {
    void operator()(float* memory) const;
  };
  using Floats = std::unique_ptr<float[], Free>;
  struct Operands {
    Floats lhs, rhs, dst;
  };
  /// dst = lhs * rhs.
  virtual void multiply(const Operands& operands) = 0;

  [[nodiscard]] const GemmShape& shape() const { return shape_; }
  [[nodiscard]] int threads() const { return host_.threads; }
  /// Elements from one row of an operand to the next.
  [[nodiscard]] std::int64_t lhs_pitch() const;
  [[nodiscard]] std::int64_t rhs_pitch() const;

 private:
  GemmShape shape_;
  Host host_;
  std::vector<Operands> sets_;
};

}  // namespace morton::cli
