// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"

namespace morton::run {

/// Gives the system what the process holds and does not need, before weights of so many bytes are
/// read or take memory: freed memory and, before many weights, pages of libraries' code and tables.
/// Linking a driver with its compiler reads tens of megabytes of relocations that nothing reads
/// again. What is needed after all comes back from the libraries' files. Pages stay that the
/// process has changed, and all where the system cannot tell which these are.
void return_unneeded_memory(std::int64_t weight_bytes);

}  // namespace morton::run
