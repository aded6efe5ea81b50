// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "base/algebra/typed_chain.hpp"

namespace morton {

/// Values of a step's arguments; those that it does not have are not looked at.
using ScalarArguments = std::array<double, 3>;

/// What the step gives on the host, whose arguments are of this type. Integers wrap as a device's
/// do. Throws InternalError for a primitive that the type does not have.
[[nodiscard]] double value_of(const ScalarStep& step, DType type, const ScalarArguments& v);

}  // namespace morton
