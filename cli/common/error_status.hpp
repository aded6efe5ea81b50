// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "morton/error.hpp"

namespace morton::cli {

inline constexpr int kUsageStatus = 2;
inline constexpr int kInternalStatus = 70;

/// What the program's exit status is for an error.
[[nodiscard]] inline int status_of(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::usage:
      return kUsageStatus;
    case ErrorClass::model:
    case ErrorClass::unsupported:
      return 3;
    case ErrorClass::device:
      return 4;
    case ErrorClass::internal:
      break;
  }
  return kInternalStatus;
}

}  // namespace morton::cli
