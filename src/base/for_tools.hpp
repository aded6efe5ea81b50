// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "morton/export.hpp"

/// Marks what libmorton_tools calls of libmorton's inside. Its symbol is then seen outside the
/// shared library, but no installed header declares it. The linker says where a mark is missing.
#define MORTON_FOR_TOOLS MORTON_API
