// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "morton/model.hpp"
#include "morton/problems.hpp"
#include "morton/tensor.hpp"
#include "plan/tuned.hpp"

namespace morton {

/// Inputs of a product that are constants: `gemm_model(shape)` with "lhs" and "rhs" given. Packing
/// then belongs to loading, and a run is the kernel alone.
[[nodiscard]] Model constant_gemm_model(const GemmShape& shape,
                                        const std::vector<NamedTensor>& inputs);

/// The product as the planner sees it.
[[nodiscard]] BoundProblem bound_gemm(const GemmShape& shape);

/// The shape behind a record's problem. Throws UnsupportedError for what is no product.
[[nodiscard]] GemmShape shape_of(const TunedProblem& problem);

/// 2*M*N*K.
[[nodiscard]] double flop_of(const GemmShape& shape);

}  // namespace morton
