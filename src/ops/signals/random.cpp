// SPDX-License-Identifier: Apache-2.0
#include "ops/signals/random.hpp"

#include <bit>
#include <cmath>
#include <numbers>

namespace morton::ops {
namespace {

enum Stream : std::uint32_t { seeded = 1, named = 2 };

/// A seed is a real number, or a whole one (Dropout's).
std::uint64_t seed_of(const NodeView& node) {
  const Attribute& seed = node.node().attributes.at("seed");
  if (const auto* whole = std::get_if<std::int64_t>(&seed)) {
    return static_cast<std::uint64_t>(*whole);
  }
  return std::bit_cast<std::uint64_t>(node.real("seed", 0.0));
}

/// FNV-1a.
std::uint64_t digest_of(std::string_view name) {
  std::uint64_t digest = 0xcbf29ce484222325U;
  for (const char letter : name) {
    digest = (digest ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  }
  return digest;
}

CounterGenerator generator_of(const NodeView& node) {
  if (node.has("seed")) return {seed_of(node), Stream::seeded, 0};
  return {digest_of(node.node().name), Stream::named, 0};
}

constexpr int kSpareBits = 8;  ///< of 32, beyond the 24 of an f32

}  // namespace

RandomPlaces::RandomPlaces(const NodeView& node) : generator_(generator_of(node)) {}

double RandomPlaces::uniform(std::uint64_t place) const {
  const auto bits = generator_.bits(place / 4);
  return std::ldexp(static_cast<double>(bits[place % 4] >> kSpareBits), -(32 - kSpareBits));
}

double RandomPlaces::normal(std::uint64_t place) const {
  const auto bits = generator_.bits(place / 2);
  const double first = std::ldexp(static_cast<double>(bits[0]) + 0.5, -32);
  const double second = std::ldexp(static_cast<double>(bits[1]), -32);
  const double radius = std::sqrt(-2.0 * std::log(first));
  const double angle = 2.0 * std::numbers::pi * second;
  return radius * (place % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

}  // namespace morton::ops
