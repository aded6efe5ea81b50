// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/peer_contender.hpp"

#include <chrono>

namespace morton::cli {
namespace {

std::chrono::milliseconds pause_after(Peer::AfterCall what) {
  using std::chrono::milliseconds;
  switch (what) {
    case Peer::AfterCall::idle:
      return milliseconds(0);
    case Peer::AfterCall::spins_briefly:
      return milliseconds(20);
    case Peer::AfterCall::spins:
      break;
  }
  return milliseconds(300);
}

}  // namespace

PeerContender::PeerContender(const std::string& name, const PeerRequest& request)
    : Contender(name, request.sets), peer_(open_peer(name, request)) {}

Contender::About PeerContender::about() const {
  About about;
  about.kind = Kind::peer;
  about.version = peer_->version();
  about.bounded_by_peak = peer_->place() == Peer::Place::same_processor;
  about.pause_after = pause_after(peer_->after_call());
  return about;
}

Tensor PeerContender::compute(const Inputs& inputs) {
  peer_->set_inputs(inputs.at(0).tensor, inputs.at(1).tensor);
  peer_->enqueue(0);
  peer_->wait();
  return peer_->result(0);
}

void PeerContender::enqueue(std::size_t set, Part /*part*/) { peer_->enqueue(set); }

void PeerContender::wait() { peer_->wait(); }

}  // namespace morton::cli
