// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "plan/tasks/tasks.hpp"

namespace morton::plan {

/// An elementwise problem as ones of the families that compute a part of them: `bias`, `sigmoid`
/// and `relu` of a matrix (R17, chapter 9). None where its chain is another; two where either
/// dimension of the tensor may be the matrix's first.
[[nodiscard]] std::vector<BoundProblem> narrowed(
    const BoundProblem& elementwise, const std::function<const TaskTensor&(TensorId)>& tensor_at);

/// True for the families that `narrowed` gives.
[[nodiscard]] bool is_narrow_family(const std::string& family);

}  // namespace morton::plan
