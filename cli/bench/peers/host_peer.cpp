// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host_peer.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/output.hpp"

namespace morton::cli {
namespace {

/// A cache line, and a vector of the widest kind.
constexpr std::size_t kAlignment = 64;

float* allocate(std::int64_t elements) {
  const std::size_t bytes = static_cast<std::size_t>(elements) * sizeof(float);
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  auto* const memory = static_cast<float*>(std::aligned_alloc(kAlignment, rounded));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void HostPeer::Free::operator()(float* memory) const { std::free(memory); }

Host host_of(const Device& device) {
  const Json facts = Json::parse(device.json());
  if (facts.value("kind", "") == "cpu") {
    return {Peer::Place::same_processor, facts.value("compute_units", 1)};
  }
  return {Peer::Place::elsewhere,
          static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))};
}

HostPeer::HostPeer(const PeerRequest& request)
    : shape_(request.shape), host_(host_of(request.device)) {
  for (std::size_t i = 0; i < request.sets; ++i) {
    Operands operands;
    operands.lhs.reset(allocate(shape_.m * shape_.k));
    operands.rhs.reset(allocate(shape_.k * shape_.n));
    operands.dst.reset(allocate(shape_.m * shape_.n));
    // Touched here, so that no call pays for the first use of a page.
    std::fill_n(operands.dst.get(), shape_.m * shape_.n, 0.0F);
    sets_.push_back(std::move(operands));
  }
}

std::int64_t HostPeer::lhs_pitch() const {
  return shape_.lhs == GemmShape::Order::plain ? shape_.k : shape_.m;
}

std::int64_t HostPeer::rhs_pitch() const {
  return shape_.rhs == GemmShape::Order::plain ? shape_.n : shape_.k;
}

void HostPeer::set_inputs(const Tensor& lhs, const Tensor& rhs) {
  for (const Operands& set : sets_) {
    std::ranges::copy(lhs.as<float>(), set.lhs.get());
    std::ranges::copy(rhs.as<float>(), set.rhs.get());
  }
}

Tensor HostPeer::result(std::size_t set) {
  Tensor dst = Tensor::allocate(DType::f32, {shape_.m, shape_.n});
  std::copy_n(sets_[set].dst.get(), shape_.m * shape_.n, dst.as_mutable<float>().begin());
  return dst;
}

}  // namespace morton::cli
