// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace morton {

/// Whether small kernels that do not need each other's results share a launch, which is faster
/// where launches take longer than their work. A joined kernel is built for these steps alone, so
/// other extents may need kernels that are not built, and what is measured of a step is of all
/// kernels in it. Unless told otherwise only the steps of a training are joined.
enum class JoinedLaunches : std::uint8_t { joined_for_training, apart, joined };

/// What happens where a plan at other extents needs kernels that are not built: UnsupportedError,
/// which names them, or they are built.
enum class MissingKernels : std::uint8_t { refuse, build };

/// How much of a plan is printed: its steps, or the reason of every choice too.
enum class PlanDetail : std::uint8_t { brief, why };

}  // namespace morton
