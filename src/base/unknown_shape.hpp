// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

namespace morton {

/// A shape follows from what was not given: an open extent, or the value of an input. Whoever only
/// asks whether a model can be computed goes on without shapes; to everybody else it is a
/// UsageError like others.
class UnknownShape : public UsageError {
 public:
  using UsageError::UsageError;
};

}  // namespace morton
