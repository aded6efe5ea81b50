// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/peer.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "morton/error.hpp"

namespace morton::cli {
namespace {

using Open = std::unique_ptr<Peer> (*)(const PeerRequest&);
constexpr std::array<std::pair<const char*, Open>, 5> kPeers{{
    {"clblast", open_clblast},
    {"cublas", open_cublas},
    {"gemmlowp", open_gemmlowp},
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
    if (name != known) continue;
    if (request.shape.batch > 0 && open != open_clblast) {
      throw UsageError(fmt::format(
          "--peer {}: it multiplies no batch here; leave out --batch, or take clblast", name));
    }
    const bool is_of_bytes = open == open_gemmlowp;
    if (is_of_bytes == (request.shape.type != DType::f32)) return open(request);
    throw UsageError(fmt::format("--peer {}: it multiplies {} here; give --type {}", name,
                                 is_of_bytes ? "u8" : "f32", is_of_bytes ? "u8" : "f32"));
  }
  throw UsageError(fmt::format("--peer {}: there is no such peer; there are {}", name,
                               fmt::join(peer_names(), ", ")));
}

}  // namespace morton::cli
