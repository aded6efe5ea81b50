// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "source/instance.hpp"

namespace morton::source {

/// Arguments that a joined kernel has for each member besides the member's own: the number of the
/// first work-group behind its own, and how many it has in the first two dimensions.
inline constexpr const char* kEndArgument = "end";
inline constexpr const char* kGroupsArguments[] = {"groups0", "groups1"};

/// Whether the entry's kernel can be a part of a joined one: OpenCL C has local memory and barriers
/// at the level of kernels only.
[[nodiscard]] bool can_join(const Entry& entry);

/// Whether generate_stacked takes the entry's kernel: local memory and barriers may be in it, and
/// it knows no third dimension.
[[nodiscard]] bool can_stack(const Entry& entry);

/// A kernel whose work-groups are those of the first member, then those of the second, and so on,
/// in one dimension. The members' work-groups are of one size, `spec.local`, with one dimension,
/// and none has groups in a third. Equal members that follow each other share one copy of the text.
/// The arguments of member i come as its own `generate` lists them, with `member` i, and behind
/// them kEndArgument and kGroupsArguments. Throws ModelError as `generate` does.
[[nodiscard]] InstanceSource generate_joined(const std::vector<InstanceSpec>& members);

}  // namespace morton::source
