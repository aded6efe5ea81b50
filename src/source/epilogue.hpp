// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/algebra/typed_chain.hpp"
#include "base/rooms.hpp"

namespace morton::source {

/// `value`, rounded to f32, as OpenCL C reads it: "(0.100000001f)", "INFINITY", "NAN".
[[nodiscard]] std::string float_literal(double value);
/// `value` as a constant of the type: as above for what is f32 in registers, "(0.1)" for f64,
/// "((short)-5)" or "(5UL)" for integers, saturated.
[[nodiscard]] std::string literal_of(DType type, double value);

/// An OpenCL C function `float name(float v, float s1, ...)` that computes the chain, one statement
/// for each step, so that a value used twice is computed once. Its parameters and its value have
/// the chain's types. Functions that it needs stand before it and may stand in a program any number
/// of times.
[[nodiscard]] std::string epilogue_function(const TypedChain& chain, const std::string& name);

}  // namespace morton::source
