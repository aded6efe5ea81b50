// SPDX-License-Identifier: Apache-2.0
#include "training/data/epoch_order.hpp"

#include <limits>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "base/numbers/counter_generator.hpp"

namespace morton::training {

std::vector<std::uint32_t> random_order(std::int64_t count, std::uint64_t seed, RandomStream stream,
                                        std::uint32_t epoch) {
  if (count < 0 || count > std::numeric_limits<std::uint32_t>::max()) {
    throw UsageError("data set: " + std::to_string(count) +
                     " examples; an order is drawn for 0 to 2^32 - 1");
  }
  const CounterGenerator generator(seed, static_cast<std::uint32_t>(stream), epoch);
  std::vector<std::uint32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t left = order.size(); left > 1; --left) {
    const std::uint64_t chosen = below(left, generator.bits(left)[0]);
    std::swap(order[left - 1], order[static_cast<std::size_t>(chosen)]);
  }
  return order;
}

}  // namespace morton::training
