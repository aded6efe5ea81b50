// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/rooms.hpp"
#include "plan/search/candidates.hpp"

namespace morton::plan {

/// The problem of copying a tensor into a demanded arrangement; `view` is the operand's in
/// `problem`, used for a demand of kind `packed`.
[[nodiscard]] BoundProblem pack_problem(TensorId source, TensorId copy, const View& view,
                                        const Arrangement& arrangement, const Problem& problem,
                                        Demand::Kind kind);

/// Time of copying from one arrangement to another. Where neighbours in the copy lie along
/// dimensions that it joins, and the other does not, a CPU works out each element's place.
[[nodiscard]] double repack_cost_us(const Arrangement& from, const Arrangement& to,
                                    const PlanContext& context);

/// What is demanded of a side operand of `shape`, whose tensor has `tensor`'s: any format, but with
/// the one of the kernel's result named where they belong together element by element.
[[nodiscard]] Demand side_demand(const Demand& dst, const Shape& shape, const Shape& tensor);
/// Whether kernels of the problem go along the memory of their result and read operands in its
/// order: elementwise ones, and copies that join tensors or take them apart.
[[nodiscard]] bool walks_result(const BoundProblem& bound);
/// The same of one kernel; also where its operands must lie as its result does.
[[nodiscard]] bool walks_result(const KernelChoice& kernel);
/// The order in which such a kernel likes to find an operand of this shape where its result lies
/// so; none for a problem whose kernels do not, and for operands that are broadcast.
[[nodiscard]] std::optional<Arrangement> order_along(const BoundProblem& bound,
                                                     const Arrangement& result,
                                                     const Shape& operand);
/// What a kernel that goes along its result's memory demands of its operand `role`, a tensor of
/// this shape, with the order of `result` named: that very arrangement where the operand is
/// unbound. None where its own demand holds.
[[nodiscard]] std::optional<Demand> demand_along_result(const KernelChoice& kernel,
                                                        const std::string& role,
                                                        const Shape& tensor, const Demand& result);
/// Time that an epilogue, or an elementwise kernel, loses on an operand that lies in another order
/// than the result, which `demand` names.
[[nodiscard]] double side_cost_us(const Arrangement& side, const Demand& demand,
                                  const PlanContext& context);

/// Time that a CPU loses where a copy that moves dimensions about leaves its result so that
/// neighbours lie along dimensions that it joins, or a sum of parts leaves them across its rows:
/// each element's place is worked out. Also where a kernel stores vectors lane by lane. Time that a
/// GPU loses where work-items along the last dimension store halves that do not lie side by side.
/// Else 0.
[[nodiscard]] double order_cost_us(const KernelChoice& kernel, const Arrangement& result,
                                   const PlanContext& context);

/// Time that a CPU loses where a kernel that loads vectors along the last dimension of its operand
/// `role` finds neighbours apart, and loads lane by lane. Else 0.
[[nodiscard]] double lanes_us(const KernelChoice& kernel, const std::string& role,
                              const Arrangement& stored, const PlanContext& context);

/// Time that a kernel loses by reading along the rows of a tensor that lies otherwise: a GPU
/// fetches a sector of its cache for each element whose neighbour in the row is not in it. 0 on
/// other devices.
[[nodiscard]] double scattered_us(const Arrangement& stored, const Demand& demand,
                                  const PlanContext& context);

}  // namespace morton::plan
