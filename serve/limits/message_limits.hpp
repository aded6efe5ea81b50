// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace morton::serve {

// What a message may have, whatever protocol carries it.

/// Inputs or outputs of a request: no model has more.
inline constexpr std::size_t kMostPorts = 4096;
/// Extents of a shape: likewise.
inline constexpr std::size_t kMostExtents = 64;
/// That a client waits: a day.
inline constexpr std::int64_t kMostTimeoutUs = std::int64_t{86400} * 1'000'000;
/// Bytes of any message but an inference's: these say little, and a thread of many clients reads
/// them.
inline constexpr std::size_t kMostLittleBytes = std::size_t{64} << 10;

}  // namespace morton::serve
