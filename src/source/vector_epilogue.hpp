// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/algebra/typed_chain.hpp"
#include "base/rooms.hpp"

namespace morton::source {

/// The chain as a function of vectors of so many f32 lanes (4, 8 or 16), which gives each lane what
/// `scalar`, the function of the chain's numbers, gives. A step for which OpenCL C has no vectors,
/// and a value of another type than f32 or bool, make it a loop over the lanes.
[[nodiscard]] std::string vector_epilogue_function(const TypedChain& chain, const std::string& name,
                                                   const std::string& scalar, int lanes);

/// The type of its arguments and result, which its text declares.
[[nodiscard]] std::string lane_type(const std::string& function);

}  // namespace morton::source
