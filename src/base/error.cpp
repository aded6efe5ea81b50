// SPDX-License-Identifier: Apache-2.0
#include "morton/error.hpp"

namespace morton {

// Out-of-line destructors anchor each class's type information in the library, so that an exception
// thrown here is caught by type in a program that links a shared build with hidden symbols.
Error::~Error() = default;
UsageError::~UsageError() = default;
ModelError::~ModelError() = default;
UnsupportedError::~UnsupportedError() = default;
DeviceError::~DeviceError() = default;
InternalError::~InternalError() = default;

}  // namespace morton
