// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace morton {

/// Which kernels that do not need each other's results share a launch.
///
/// `joined`: small ones, which is faster where launches take longer than their work, and equal ones
/// that follow each other and leave compute units idle, as those of an encoder's queries, keys and
/// values. `automatic`: small ones in the steps of a training, equal ones on all devices but
/// processors. `apart`: none.
///
/// A joined kernel is built for these steps alone, so other extents may need kernels that are not
/// built. What is measured of a step is of all kernels in it.
enum class JoinedLaunches : std::uint8_t { automatic, apart, joined };

/// What happens where a plan at other extents needs kernels that are not built: UnsupportedError,
/// which names them, or they are built.
enum class MissingKernels : std::uint8_t { refuse, build };

/// How much of a plan is printed: its steps, or the reason of every choice too.
enum class PlanDetail : std::uint8_t { brief, why };

}  // namespace morton
