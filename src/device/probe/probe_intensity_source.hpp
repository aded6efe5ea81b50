// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/rooms.hpp"
#include "device/probe/probe_memory_source.hpp"

namespace morton::device {

/// What an IntensityProbe loads and computes with; integers wrap.
enum class IntensityType : std::uint8_t { f32, f16, i32, i8 };
[[nodiscard]] const char* name_of(IntensityType type);
[[nodiscard]] std::int64_t bytes_of(IntensityType type);
/// Bytes of an element of a sum: halves are stored as floats.
[[nodiscard]] std::int64_t result_bytes_of(IntensityType type);

/// How its kernels are written.
struct IntensityForm {
  IntensityType type = IntensityType::f32;
  MemoryWalk walk = MemoryWalk::side_by_side;
  std::int64_t lanes = 4;            ///< of a vector
  const char* multiply_add = "mad";  ///< of reals: "fma" or "mad"
};

/// Vectors that a work-item loads in a turn.
inline constexpr std::int64_t kVectorsOfTurn = 8;
/// From so many multiply-adds on, their number is a multiple of it, and kernels are the same.
inline constexpr std::int64_t kMultiplyAddsOfRound = 8;

/// Kernels `fill` and `compute`. `multiply_adds` is below kMultiplyAddsOfRound, or a multiple of
/// it; rounds of so many are then an argument.
[[nodiscard]] std::string intensity_source(const IntensityForm& form, std::int64_t multiply_adds);

}  // namespace morton::device
