// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "morton/error.hpp"  // IWYU pragma: export
