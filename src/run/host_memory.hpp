// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <vector>

#include "base/rooms.hpp"

namespace morton::run {

/// Gives the system what the process holds and does not need, before weights of so many bytes are
/// read or take memory: freed memory and, before many weights, pages of libraries' code and tables.
/// Linking a driver with its compiler reads tens of megabytes of relocations that nothing reads
/// again. What is needed after all comes back from the libraries' files. Pages stay that the
/// process has changed, and all where the system cannot tell which these are.
void return_unneeded_memory(std::int64_t weight_bytes);

/// Asks the system for large pages under memory that nothing has been written to yet: weights are
/// read from end to end by each run, and an address of few pages is found sooner. Does nothing
/// where the system has none.
void ask_for_large_pages(std::span<std::byte> memory);

/// A stretch of the process's memory.
struct AddressRange {
  std::uintptr_t begin = 0, end = 0;
};

/// Of the text of /proc/self/smaps, the read-only mappings of which the process has changed no
/// page, neither one in memory nor one that is swapped out.
[[nodiscard]] std::vector<AddressRange> unchanged_mappings(std::istream& maps);

}  // namespace morton::run
