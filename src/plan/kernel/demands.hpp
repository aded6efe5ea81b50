// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/rooms.hpp"
#include "plan/kernel/asked_kernel.hpp"
#include "plan/kernel/entry_values.hpp"

namespace morton::plan {

/// What a kernel finds where the operand lies: the tensor's type in memory, where it knows that.
[[nodiscard]] DType type_in_memory(const OperandFormat& format, const TaskTensor& tensor);

/// Fills in what the kernel demands of its operands; or why one of them cannot be given to it so.
[[nodiscard]] std::optional<Reason> demand_all(const AskedKernel& asked, const EntryValues& values,
                                               KernelChoice& choice);

}  // namespace morton::plan
