// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/peer.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "morton/error.hpp"

namespace morton::cli {
namespace {

using Open = std::unique_ptr<Peer> (*)(const PeerRequest&);
constexpr std::array<std::pair<const char*, Open>, 4> kPeers{{
    {"clblast", open_clblast},
    {"cublas", open_cublas},
    {"onednn", open_onednn},
    {"openblas", open_openblas},
}};

}  // namespace

std::vector<std::string> peer_names() {
  std::vector<std::string> names;
  for (const auto& [name, open] : kPeers) names.emplace_back(name);
  return names;
}

std::unique_ptr<Peer> open_peer(const std::string& name, const PeerRequest& request) {
  for (const auto& [known, open] : kPeers) {
    if (name == known) return open(request);
  }
  throw UsageError(fmt::format("--peer {}: there is no such peer; there are {}", name,
                               fmt::join(peer_names(), ", ")));
}

}  // namespace morton::cli
