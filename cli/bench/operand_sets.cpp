// SPDX-License-Identifier: Apache-2.0
#include "bench/operand_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/output.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

/// What the driver and, of the host's third-level cache, the system say. Of a GPU with memory of
/// its own at least 64 MiB: NVIDIA's driver tells the size of the first-level caches, 4 MiB of an
/// H200.
std::int64_t last_level_cache_bytes(const Device& device) {
  const Json facts = Json::parse(device.json());
  std::int64_t bytes = facts.value("global_cache_bytes", std::int64_t{0});
  const std::string kind = facts.value("kind", "");
  if (kind == "gpu" && !facts.value("unified_memory", false)) {
    bytes = std::max(bytes, std::int64_t{64} << 20);
  }
  if (kind == "cpu") {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
    std::int64_t kibibytes = 0;
    char unit = '\0';
    if (file >> kibibytes >> unit && unit == 'K') bytes = std::max(bytes, kibibytes * 1024);
  }
  if (bytes > 0) return bytes;
  throw UnsupportedError(
      fmt::format("--buffers rotate: {} does not say how large its cache is; use --buffers warm",
                  device.name()));
}

}  // namespace

Buffers parse_buffers(const std::string& text) {
  if (text == "warm") return Buffers::warm;
  if (text == "rotate") return Buffers::rotate;
  throw UsageError(fmt::format("--buffers {}: expected warm or rotate", text));
}

OperandSets operand_sets_of(Buffers buffers, double bytes, const Device& device) {
  if (buffers == Buffers::warm) {
    return {1, fmt::format("warm: every call on the same operands, {} together",
                           bytes_text(static_cast<std::int64_t>(bytes)))};
  }
  // Caches do not evict the oldest first: of 2.5 times its cache, an H200 reads a third from there.
  constexpr double kTimesTheCache = 8.0;
  // Each set is a session with kernels and memory of its own.
  constexpr double kMostSets = 2048.0;
  const auto cache = static_cast<double>(last_level_cache_bytes(device));
  OperandSets sets;
  sets.count = static_cast<std::size_t>(
      std::clamp(std::ceil(kTimesTheCache * cache / bytes), 2.0, kMostSets));
  sets.description = fmt::format(
      "rotating: calls take turns among {} sets of operands of {}, {} together; the cache "
      "is taken to have {}",
      sets.count, bytes_text(static_cast<std::int64_t>(bytes)),
      bytes_text(static_cast<std::int64_t>(bytes * static_cast<double>(sets.count))),
      bytes_text(static_cast<std::int64_t>(cache)));
  return sets;
}

}  // namespace morton::cli
