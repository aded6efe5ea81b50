// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/algebra/typed_chain.hpp"
#include "base/rooms.hpp"

namespace morton::source {

/// The chain as a function of vectors of so many lanes (4, 8 or 16), which gives each lane what
/// `scalar`, the function of the chain's numbers, gives. Vectors are of f32, or of i32 where sums
/// of bytes come in; the result may be of bytes. A step for which there is no text of vectors makes
/// it a loop over the lanes.
[[nodiscard]] std::string vector_epilogue_function(const TypedChain& chain, const std::string& name,
                                                   const std::string& scalar, int lanes);

/// The type of its arguments and result of element type `type`, which its text declares.
[[nodiscard]] std::string lane_type(const std::string& function, DType type);

}  // namespace morton::source
