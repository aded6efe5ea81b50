// SPDX-License-Identifier: Apache-2.0
#include "plan/lower/placement.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "base/numbers/checked.hpp"
#include "plan/ir/lifetimes.hpp"
#include "plan/ir/memory_range.hpp"

namespace morton::plan {
namespace {

/// Changed orders that are tried: fewer where one takes long.
constexpr std::size_t kMostTries = 200;
constexpr std::size_t kTriesTimesItems = 20000;

using Order = std::vector<std::size_t>;

std::size_t tries_for(std::size_t items) {
  return std::min(kMostTries, kTriesTimesItems / std::max<std::size_t>(items, 1));
}

class Placer {
 public:
  Placer(const std::vector<PlacementItem>& items, const PlacementRules& rules)
      : items_(items), rules_(rules), beside_(items.size()) {
    for (std::size_t a = 0; a < items.size(); ++a) {
      for (std::size_t b = a + 1; b < items.size(); ++b) {
        if (!overlap(items[a].life, items[b].life)) continue;
        beside_[a].push_back(b);
        beside_[b].push_back(a);
      }
    }
  }

  /// Each item in turn at the lowest offset of the first block where it fits.
  Placement place(const Order& order) const {
    Placement placement;
    placement.places.resize(items_.size());
    for (const std::size_t item : order) put(item, placement);
    return placement;
  }

 private:
  void put(std::size_t item, Placement& placement) const {
    const PlacementItem& facts = items_[item];
    const BlockId fresh = placement.block_bytes.next_id();
    for (BlockId b(0); b <= fresh; b = b.moved(1)) {
      if (b == fresh) placement.block_bytes.add(0);
      const std::int64_t offset = lowest_offset(item, b, placement);
      if (offset != 0 && facts.begins_block) continue;
      if (offset != 0 && offset + facts.bytes > rules_.most_bytes) continue;
      placement.places[item] = {b, offset};
      placement.block_bytes[b] = std::max(placement.block_bytes[b], offset + facts.bytes);
      return;
    }
  }

  std::int64_t lowest_offset(std::size_t item, BlockId block, const Placement& placement) const {
    std::vector<std::pair<std::int64_t, std::int64_t>> taken;
    for (const std::size_t other : beside_[item]) {
      const Placement::Place& place = placement.places[other];
      if (place.block != block) continue;
      taken.emplace_back(place.offset_bytes, place.offset_bytes + items_[other].bytes);
    }
    std::sort(taken.begin(), taken.end());
    std::int64_t offset = 0;
    for (const auto& [begin, end] : taken) {
      if (begin - offset >= items_[item].bytes) break;
      offset = std::max(offset, round_up(end, rules_.alignment_bytes));
    }
    return offset;
  }

  const std::vector<PlacementItem>& items_;
  const PlacementRules& rules_;
  std::vector<std::vector<std::size_t>> beside_;  ///< items that are needed at the same time
};

/// The items, those for which `weight` is largest first.
template <typename Weight>
Order sorted_by(const std::vector<PlacementItem>& items, const Weight& weight) {
  Order order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return weight(items[a]) > weight(items[b]);
  });
  return order;
}

/// Bytes that live at each step.
std::vector<std::int64_t> live_bytes(const std::vector<PlacementItem>& items,
                                     std::int64_t alignment) {
  std::size_t last = 0;
  for (const PlacementItem& item : items) last = std::max(last, item.life.last);
  std::vector<std::int64_t> live(last + 1, 0);
  for (const PlacementItem& item : items) {
    for (std::size_t step = item.life.first; step <= item.life.last; ++step) {
      live[step] += round_up(item.bytes, alignment);
    }
  }
  return live;
}

std::vector<Order> first_orders(const std::vector<PlacementItem>& items) {
  // Those that live where memory is fullest; of these the largest.
  const std::vector<std::int64_t> live = live_bytes(items, 1);
  std::vector<std::int64_t> most_beside;
  for (const PlacementItem& item : items) {
    const auto begin = live.begin() + static_cast<std::ptrdiff_t>(item.life.first);
    const auto end = live.begin() + static_cast<std::ptrdiff_t>(item.life.last) + 1;
    most_beside.push_back(*std::max_element(begin, end));
  }
  const auto fullest = [&](const PlacementItem& item) {
    return std::pair(most_beside[static_cast<std::size_t>(&item - items.data())], item.bytes);
  };
  const auto length = [](const PlacementItem& item) {
    return static_cast<std::int64_t>(item.life.last - item.life.first + 1);
  };
  return {sorted_by(items, [](const PlacementItem& item) { return item.bytes; }),
          sorted_by(items, [&](const PlacementItem& item) { return item.bytes * length(item); }),
          sorted_by(items, length),
          sorted_by(items,
                    [](const PlacementItem& item) {
                      return -static_cast<std::int64_t>(item.life.first);
                    }),
          sorted_by(items, [](const PlacementItem& item) { return item.life.last; }),
          sorted_by(items, fullest)};
}

/// An item that ends where the largest block ends: it, or one below it, should have come earlier.
std::size_t highest(const std::vector<PlacementItem>& items, const Placement& placement) {
  std::size_t found = 0;
  std::int64_t most = -1;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::int64_t end = placement.places[i].offset_bytes + items[i].bytes;
    if (end <= most) continue;
    most = end;
    found = i;
  }
  return found;
}

/// Moves `item` to a random earlier place of the order.
void move_forward(Order& order, std::size_t item, std::mt19937& generator) {
  const auto at = std::find(order.begin(), order.end(), item);
  const auto before = at - order.begin();
  if (before == 0) {
    // It is first already: another order of the rest may still leave it lower.
    const auto count = static_cast<std::mt19937::result_type>(order.size());
    std::swap(order[generator() % count], order[generator() % count]);
    return;
  }
  const auto to = generator() % static_cast<std::mt19937::result_type>(before);
  std::rotate(order.begin() + static_cast<std::ptrdiff_t>(to), at, at + 1);
}

/// Items that take turns at one place, which is as large as the largest of them.
struct Turns {
  PlacementItem place;
  std::vector<std::size_t> items;
};

/// Each item in turn at the place, free while it lives, that grows least by it and is filled best.
std::vector<Turns> take_turns(const std::vector<PlacementItem>& items, const Order& order) {
  std::vector<Turns> all;
  for (const std::size_t i : order) {
    const PlacementItem& item = items[i];
    Turns* chosen = nullptr;
    const auto cost = [&](const Turns& turns) {
      return std::pair(std::max<std::int64_t>(0, item.bytes - turns.place.bytes),
                       turns.place.bytes);
    };
    for (Turns& turns : all) {
      const bool free = std::ranges::none_of(
          turns.items, [&](std::size_t other) { return overlap(items[other].life, item.life); });
      if (free && (chosen == nullptr || cost(turns) < cost(*chosen))) chosen = &turns;
    }
    if (chosen == nullptr) chosen = &all.emplace_back(Turns{{0, {0, 0}, false}, {}});
    chosen->place.bytes = std::max(chosen->place.bytes, item.bytes);
    chosen->place.begins_block = chosen->place.begins_block || item.begins_block;
    chosen->items.push_back(i);
  }
  return all;
}

std::int64_t bytes_of(const std::vector<Turns>& all) {
  std::int64_t bytes = 0;
  for (const Turns& turns : all) bytes += turns.place.bytes;
  return bytes;
}

/// The best of several orders, and of changes to the best of those.
std::vector<Turns> take_turns(const std::vector<PlacementItem>& items) {
  std::vector<Turns> best;
  Order best_order;
  for (const Order& order : first_orders(items)) {
    std::vector<Turns> all = take_turns(items, order);
    if (!best.empty() && bytes_of(all) >= bytes_of(best)) continue;
    best = std::move(all);
    best_order = order;
  }
  std::mt19937 generator(1);
  const auto count = static_cast<std::mt19937::result_type>(items.size());
  for (std::size_t t = 0; t < tries_for(items.size()) && count > 1; ++t) {
    Order order = best_order;
    std::swap(order[generator() % count], order[generator() % count]);
    std::vector<Turns> all = take_turns(items, order);
    if (bytes_of(all) > bytes_of(best)) continue;
    best = std::move(all);
    best_order = std::move(order);
  }
  return best;
}

Placement place_in_turns(const std::vector<PlacementItem>& items, const PlacementRules& rules) {
  const std::vector<Turns> all = take_turns(items);
  std::vector<PlacementItem> together;
  for (const Turns& turns : all) together.push_back(turns.place);
  Order order(together.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const Placement of_turns = Placer(together, rules).place(order);
  Placement placement{std::vector<Placement::Place>(items.size()), of_turns.block_bytes};
  for (std::size_t t = 0; t < all.size(); ++t) {
    for (const std::size_t i : all[t].items) placement.places[i] = of_turns.places[t];
  }
  return placement;
}

}  // namespace

std::int64_t Placement::bytes() const {
  return std::accumulate(block_bytes.begin(), block_bytes.end(), std::int64_t{0});
}

std::int64_t least_bytes(const std::vector<PlacementItem>& items, const PlacementRules& rules) {
  const std::vector<std::int64_t> live = live_bytes(items, rules.alignment_bytes);
  return *std::max_element(live.begin(), live.end());
}

Placement place_items(const std::vector<PlacementItem>& items, const PlacementRules& rules) {
  if (rules.sharing == PlacementRules::Sharing::whole_places) return place_in_turns(items, rules);
  const Placer placer(items, rules);
  const std::int64_t least = least_bytes(items, rules);
  std::mt19937 generator(1);
  Placement best;
  std::vector<Order> orders = first_orders(items);
  for (Order& order : orders) {
    Placement placement = placer.place(order);
    for (std::size_t t = 0; t < tries_for(items.size()) && placement.bytes() > least; ++t) {
      Order changed = order;
      move_forward(changed, highest(items, placement), generator);
      Placement other = placer.place(changed);
      if (other.bytes() > placement.bytes()) continue;
      placement = std::move(other);
      order = std::move(changed);
    }
    if (best.places.empty() || placement.bytes() < best.bytes()) best = std::move(placement);
    if (best.bytes() <= least) break;
  }
  return best;
}

}  // namespace morton::plan
