// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "plan/search/candidates.hpp"

namespace morton::plan {

/// The problem of copying a tensor into a demanded arrangement; `view` is the operand's in
/// `problem`, used for a demand of kind `packed`.
[[nodiscard]] BoundProblem pack_problem(TensorId source, TensorId copy, const View& view,
                                        const Arrangement& arrangement, const Problem& problem,
                                        Demand::Kind kind);

/// Time of copying from one arrangement to another.
[[nodiscard]] double repack_cost_us(const Arrangement& from, const Arrangement& to,
                                    const PlanContext& context);

/// What is demanded of a side operand of `shape`, whose tensor has `tensor`'s: any format, but with
/// the one of the kernel's result named where they belong together element by element.
[[nodiscard]] Demand side_demand(const Demand& dst, const Shape& shape, const Shape& tensor);
/// Time that an epilogue loses on a side operand that lies in another order than `side_demand`
/// names: about what a copy would take.
[[nodiscard]] double side_cost_us(const Arrangement& side, const Demand& demand,
                                  const PlanContext& context);

/// Time that a kernel loses by reading along the rows of a tensor that lies otherwise: a GPU
/// fetches a sector of its cache for each element whose neighbour in the row is not in it. 0 on
/// other devices.
[[nodiscard]] double scattered_us(const Arrangement& stored, const Demand& demand,
                                  const PlanContext& context);

}  // namespace morton::plan
