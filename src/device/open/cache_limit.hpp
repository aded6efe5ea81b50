// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

#include "base/for_tools.hpp"
#include "base/rooms.hpp"

namespace morton::device {

/// Says that the file was used now: its time of change becomes the present.
void mark_used(const std::filesystem::path& file);

/// Removes programs (`programs/*.bin`) and plans (`plans/*.plan`, `plans/*.tensors`) of the cache's
/// folder, with what a kill left of them, the least recently used first, until they take at most
/// `limit_bytes`. Those with a key in `in_use` stay, and so do those that some process used within
/// the last minute: it may be about to read them. Returns how many it removed. Throws nothing: what
/// cannot be removed stays.
std::int64_t keep_within(const std::filesystem::path& folder, std::int64_t limit_bytes,
                         const std::set<std::string>& in_use);

}  // namespace morton::device
