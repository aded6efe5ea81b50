// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/rooms.hpp"
#include "plan/ir/lifetimes.hpp"
#include "plan/lower/memory.hpp"

namespace morton::plan {

/// A stretch of bytes that is needed for some steps.
struct PlacementItem {
  std::int64_t bytes = 0;
  Lifetime life;
  bool begins_block = false;  ///< it must lie at the start of its block
};

/// What blocks are like.
struct PlacementRules {
  std::int64_t alignment_bytes = 1;  ///< of every offset
  std::int64_t most_bytes = 0;       ///< of a block; no item is larger
  /// Whether any two stretches of a block may share bytes, or only such as begin at the same byte.
  enum class Sharing : std::uint8_t { any_bytes, whole_places } sharing = Sharing::any_bytes;
};

/// Where items lie: of each its block and its offset; of each block its size.
struct Placement {
  struct Place {
    BlockId block;  ///< of these blocks; none while nothing lies there
    std::int64_t offset_bytes = 0;
  };
  std::vector<Place> places;
  Indexed<BlockId, std::int64_t> block_bytes;
  [[nodiscard]] std::int64_t bytes() const;
};

/// The most bytes that are needed at one time, each item rounded up to the alignment: no placement
/// takes less (but for what the last item of a block is rounded up by).
[[nodiscard]] std::int64_t least_bytes(const std::vector<PlacementItem>& items,
                                       const PlacementRules& rules);

/// Places items so that those needed at the same time do not overlap, in little memory: several
/// orders are tried, each item put at the lowest offset where it fits, then each order is
/// changed where it reaches highest, until nothing better can be or a while has passed. Where only
/// whole places are shared, an order tells which item joins which place. The same items always get
/// the same places.
[[nodiscard]] Placement place_items(const std::vector<PlacementItem>& items,
                                    const PlacementRules& rules);

}  // namespace morton::plan
