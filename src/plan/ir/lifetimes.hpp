// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "base/device/device_info.hpp"
#include "base/rooms.hpp"
#include "plan/ir/plan.hpp"

namespace morton::plan {

/// Steps from the first that writes a value to the last that reads it, both included. Inputs,
/// outputs and constants live all through; weights that are streamed from the step before the first
/// that reads them. Names of the same memory (Value::memory_of) live as long
/// as any of them.
struct Lifetime {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// Whether both live at some step.
[[nodiscard]] inline bool overlap(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

using Lifetimes = Indexed<ValueId, Lifetime>;

[[nodiscard]] Lifetimes lifetimes(const Plan& plan);

/// The same among the load steps: constants live from the first of them that reads them. What none
/// of them touches has the first alone.
[[nodiscard]] Lifetimes load_lifetimes(const Plan& plan);

/// For each value, whether it must begin its block: kernels read it as an image made on its memory,
/// and drivers make such an image where the buffer begins, whatever sub-buffer they are given (Mesa
/// 25).
[[nodiscard]] Indexed<ValueId, char> begins_block(const Plan& plan);

/// True where values may share bytes only when they begin at the same byte: the driver cannot bear
/// other sub-buffers that overlap (quirk nvidia-overlapping-sub-buffers).
[[nodiscard]] bool shares_whole_places(const DeviceInfo& device);

}  // namespace morton::plan
