// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"

namespace morton::test {
using namespace tools;
}  // namespace morton::test
