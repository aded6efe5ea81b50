// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "source/instance.hpp"

namespace morton::source {

/// How an operand's coordinates follow from an element's number in its memory.
struct MemoryOrder {
  struct Named {
    std::string name;
    Expression value;
  };
  /// Each in terms of "(e)", the number, of those before it, and of sizes.
  std::vector<Named> coordinates;
  /// Of those, what each must be less than, or the element is padding.
  std::vector<Named> bounds;
};

/// For a dense arrangement and a view with a grouping. The arrangement may join the tensor's
/// dimensions otherwise than the view does.
[[nodiscard]] MemoryOrder memory_order(const InstanceOperand& operand);

/// The same as a kernel's text.
struct MemoryOrderText {
  /// Declarations of the coordinates (`const int d0 = ...;`) of the element with the number `(e)`.
  std::string declarations;
  /// Condition that those coordinates lie in the tensor rather than in its padding.
  std::string inside;
  std::set<std::string> sizes;  ///< arguments that the two need
};

[[nodiscard]] MemoryOrderText memory_order_text(const InstanceOperand& operand);

/// Text by which a kernel walks a part of dst: the problem's rows, each along its last dimension.
struct PartOrderText {
  /// Declarations of the coordinates of row `(row)`, but for the last.
  std::string declarations;
  std::string column;           ///< name of the last coordinate
  std::set<std::string> sizes;  ///< arguments that these need
};
[[nodiscard]] PartOrderText part_order(const View& view);

}  // namespace morton::source
