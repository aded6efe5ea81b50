// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/chain.hpp"

namespace morton {

/// `value`, rounded to f32, as OpenCL C reads it: "(0.100000001f)", "INFINITY", "NAN".
[[nodiscard]] std::string float_literal(double value);

/// An OpenCL C function `float name(float v, float s1, ...)` that computes the chain, one statement
/// for each step, so that a value used twice is computed once.
[[nodiscard]] std::string epilogue_function(const Chain& chain, const std::string& name);

}  // namespace morton
